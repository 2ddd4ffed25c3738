"""The sets of faults, fixed by 'rlprep lint --fix --unsafe-fixes --agent tool_agent', shown to verl itself: where lint finds nothing
any more, for V1 and for the older trainer, verl must say nothing either. A part of verl_oracle.py; by itself:
verl_fixed.py RLPREP [SET…], with RLPREP_SHARED as in verl.sh.
"""
import json
import os
import shutil
import subprocess
import sys

TARGETS = ("verl@0.9", "verl@0.9-v0")


def sets(roots, names=()):
    for root in roots:
        path = os.path.join(root, "expected.jsonl")
        if not os.path.exists(path):
            continue
        for line in open(path, encoding="utf-8"):
            m = json.loads(line)
            if not names or m["set"] in names:
                yield root, m


def fixed(tool, root, m, work):
    """The files of a set and its validation, copied and fixed; None where lint still finds something."""
    out = []
    for name in m["files"] + (m.get("val") or []):
        path = os.path.join(work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(os.path.join(root, name), path)
        out.append(path)
    files, val = out[: len(m["files"])], out[len(m["files"]):]
    args = files + [a for v in val for a in ("--val", v)] + ["-q", "--no-project", "--output-format", "jsonl"]
    fix = ["lint", "--fix", "--unsafe-fixes", "--agent", "tool_agent" if m.get("tools") else "single_turn_agent"]
    before = subprocess.run([tool, "lint", *args], capture_output=True, text=True).stdout
    if subprocess.run([tool, *fix, *args], capture_output=True, text=True).returncode > 1:
        return None, None
    for target in TARGETS:
        left = subprocess.run([tool, "lint", "--target", target, *args], capture_output=True, text=True).stdout
        if any(json.loads(line)["level"] != "info" for line in left.splitlines()):
            return None, None
    return (files, val) if before else (None, None)


def run(tool, said, oracles, score, work, names=()):
    """Has verl judge every set that is clean once it is fixed."""
    here = os.path.dirname(os.path.abspath(__file__))
    shown = 0
    for root, m in sets((os.path.join(os.environ["RLPREP_SHARED"], "data", "faults"), os.path.join(here, "..", "faults")), names):
        files, val = fixed(tool, root, m, os.path.join(work, "fixed"))
        if files is None:
            continue
        shown += 1
        events = said(oracles.of(m.get("tools") or ()), m["set"], files, val)
        score.check(f"fixed {m['set']}", [f"{e['stage']} {e['kind']}: {e['msg']}" for e in events])
    if not names:
        score.check("fixed sets", shown < 25 and f"only {shown} were clean, expected 25")
    print(f"{shown} fixed sets of faults shown to verl")


if __name__ == "__main__":
    import tempfile

    import verl_oracle

    total = verl_oracle.Score()
    with tempfile.TemporaryDirectory(prefix="rlprep-fixed-") as folder:
        run(sys.argv[1], verl_oracle.said, verl_oracle.Oracles(), total, folder, sys.argv[2:])
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    sys.exit(1 if total.failed else 0)
