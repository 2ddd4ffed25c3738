"""verl 0.9.1 itself over our outputs; see verl.sh. Usage: verl_oracle.py RLPREP [--examples FILE] [--write] [--only RL401,…] [--rows 256]

Every recipe on the real GSM8K: verl's own dataset class gives the samples of the golden rows (raw_prompt, agent_name, index,
tools_kwargs, every other column); then the first 256 rows of each split go through agent loops, reward and trace of both
trainers, and nothing but what EXPECTED lists may be said. The oracle (shared/oracle) runs verl's code; only the LLM is replaced.

--examples FILE: the examples of rules, which verl judges too; verl_examples.py has how. --write puts the table of what was executed into
docs/conformance.md. Prints `N passed, N failed` at the end.
"""
import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["RLPREP_SHARED"], "oracle"))
import reference  # noqa: E402
import verl_examples  # noqa: E402
import verl_fixed  # noqa: E402

# recipe: tools that its launch configures, and words of what verl is known to say of its faithful rows
EXPECTED = {
    "gsm8k": ((), []),
    "gsm8k_tool_agent_loop": (("calc_gsm8k_reward",), []),
    "gsm8k_multiturn_w_tool": (("calc_gsm8k_reward",), ["no trajectory is offered them"]),
    "gsm8k_multiturn_w_interaction": ((), []),
}
FIXED = {r: tools for r, (tools, _) in EXPECTED.items()}


class Score:
    passed = failed = skipped = 0

    def check(self, what, bad):
        self.passed, self.failed = self.passed + (not bad), self.failed + bool(bad)
        for line in [bad] if isinstance(bad, str) else list(bad or [])[:4]:
            print(f"FAIL {what}: {line}", flush=True)


def rlprep(tool, score, *args):
    done = subprocess.run([tool, *args], capture_output=True, text=True)
    score.check(" ".join(args[:2]), done.returncode and f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.returncode == 0


def samples(oracle, recipe, split, path, problems):
    """RLHFDataset over the whole file, against the reference rows, which the golden hashes vouch for."""
    ds, bad = oracle.load([path]), []
    if len(ds) != len(problems):
        return f"{len(ds)} samples, not {len(problems)}"
    for i, (q, a) in enumerate(problems):
        want, got = reference.row(recipe, split, i, q, a), ds[i]
        info = want["extra_info"]
        asked = {k: want[k] for k in ("data_source", "ability", "reward_model", "extra_info")}
        asked |= {"raw_prompt": want["prompt"], "index": i, "tools_kwargs": info.get("tools_kwargs", {}), "agent_name": want.get("agent_name")}
        bad += [f"row {i}: {k} is {str(got.get(k))[:200]}, not {str(v)[:200]}" for k, v in asked.items() if got.get(k) != v]
        if bad:
            break
    return bad


def sft(path, problems):
    """verl's own SFT dataset: every sample is there and its answer is what is learnt."""
    import oracle_kit
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

    tok = oracle_kit.tokenizer()
    ds = MultiTurnSFTDataset([path], tok, {"max_length": 8192, "pad_mode": "no_padding", "truncation": "error", "ignore_input_ids_mismatch": True})
    if len(ds) != len(problems):
        return f"{len(ds)} samples, not {len(problems)}"
    for i, (_, a) in enumerate(problems):
        s = ds[i]
        learnt = tok.decode(s["input_ids"][s["loss_mask"].bool()])
        if a not in learnt:
            return f"row {i}: what is learnt is {learnt[:200]!r}"
    return None


def said(oracle, name, files, val=()):
    """What verl says of a set but `ok`, as the oracle's events."""
    with contextlib.redirect_stderr(io.StringIO()):
        return [e for e in oracle.run(name, files, val) if e["kind"] != "ok"]


def trains(oracle, recipe, folder, known):
    files = [os.path.join(folder, s + ".parquet") for s in ("train", "test")]
    events = said(oracle, recipe, files[:1], files[1:])
    new = [f"{e['stage']} {e['kind']}: {e['msg']}" for e in events if not any(k in e["msg"] for k in known)]
    gone = [f"verl no longer says {k!r}" for k in known if not any(k in e["msg"] for e in events)]
    return new + gone


class Oracles:
    """One oracle for each set of tools and default agent: it takes seconds to make."""

    def __init__(self):
        self.made = {}

    def of(self, tools, agent=None):
        import oracle

        key = tuple(tools), agent
        if key not in self.made:
            with contextlib.redirect_stderr(io.StringIO()):
                self.made[key] = oracle.Oracle(tuple(tools), agent)
        return self.made[key]


def recipes(tool, score, oracles, work, rows):
    real = reference.real()
    if not real:
        score.skipped += 1
        print("SKIPPED the real GSM8K is not there")
        return
    problems = {s: reference.problems(os.path.join(real, s + ".jsonl")) for s in ("train", "test")}
    for recipe in reference.RECIPES:
        whole, few = os.path.join(work, recipe), os.path.join(work, recipe + "-few")
        if not rlprep(tool, score, "preprocess", recipe, "--source", real, "-o", whole) or not rlprep(tool, score, "preprocess", recipe, "--source", real, "-o", few, "--limit", str(rows)):
            continue
        if recipe == "gsm8k_multiturn_sft":
            for s in problems:
                score.check(f"{recipe} {s}: MultiTurnSFTDataset", sft(os.path.join(few, s + ".parquet"), problems[s][:rows]))
            continue
        tools, known = EXPECTED[recipe]
        for s in problems:
            score.check(f"{recipe} {s}: RLHFDataset", samples(oracles.of(tools), recipe, s, os.path.join(whole, s + ".parquet"), problems[s]))
        score.check(f"{recipe}: {rows} rows a split train", trains(oracles.of(tools), recipe, few, known))
    fixed(tool, score, oracles, work, real, rows)


def fixed(tool, score, oracles, work, real, rows):
    """The forms without what recipes are known to raise."""
    if "--fixed" not in subprocess.run([tool, "preprocess", "--help"], capture_output=True, text=True).stdout:
        score.skipped += 1
        print("SKIPPED the --fixed forms: the binary has no such option")
        return
    for recipe, tools in FIXED.items():
        out = os.path.join(work, recipe + "-fixed")
        if rlprep(tool, score, "preprocess", recipe, "--fixed", "--source", real, "-o", out, "--limit", str(rows)):
            score.check(f"{recipe} --fixed: {rows} rows a split train", trains(oracles.of(tools), recipe, out, []))


def write(table, score):
    """Puts the table of rules between the marks of docs/conformance.md."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "conformance.md")
    begin, end = "<!-- begin: verl.sh --write -->\n", "<!-- end -->"
    text = open(path, encoding="utf-8").read()
    head, rest = text.split(begin)
    said = f"{score.passed} passed, {score.failed} failed, {score.skipped} skipped.\n\n"
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + begin + said + verl_examples.markdown(table) + end + rest.split(end)[1])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tool")
    ap.add_argument("--examples", default=os.environ.get("RLPREP_EXAMPLES"), help="what TestExportExamples wrote")
    ap.add_argument("--write", action="store_true", help="write docs/conformance.md")
    ap.add_argument("--only", default="", help="examples of these rules alone: RL401,RL405-0")
    ap.add_argument("--rows", type=int, default=256)
    args = ap.parse_args()
    score, oracles, began = Score(), Oracles(), time.time()
    with tempfile.TemporaryDirectory(prefix="rlprep-verl-") as work:
        if not args.only:
            recipes(args.tool, score, oracles, work, args.rows)
            verl_fixed.run(args.tool, said, oracles, score, work)
        table = verl_examples.run(args.tool, args.examples, said, oracles, score, work, args.only.split(",") if args.only else []) if args.examples else {}
    print(f"verl took {time.time() - began:.0f} s")
    if args.write:
        write(table, score)
    print(f"{score.passed} passed, {score.failed} failed, {score.skipped} skipped")
    sys.exit(1 if score.failed else 0)


if __name__ == "__main__":
    main()
