"""The examples of our rules, shown to verl itself: verl_oracle.py --examples FILE (go test ./internal/cli -run TestExportExamples writes FILE).

An example shows only the columns that its rule looks at. Here the others are added as correct data has them, the rows are written
with pyarrow, and verl 0.9.1 says what it makes of them: of a bad example it must say something, at those rows where it names rows,
of a good one nothing. READ_ONLY has what a run without GPU, vision model or launch cannot show.
"""
import contextlib
import io
import json
import os
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq

# Rules, or single examples of them by title, whose consequence such a run cannot show, and why.
READ_ONLY = {
    "RL013 tools_kwargs beside extra_info": "no exception: the column is overwritten",
    "RL013 a number of rollouts": "the oracle rolls out as its own configuration says",
    "RL016": "a gigabyte; it loads",
    "RL020": "no exception: the text is trained on as it is",
    "RL021": "no exception: the text is trained on as it is",
    "RL022": "no exception: the text is trained on as it is",
    "RL023": "no exception: the text is trained on as it is",
    "RL108": "depends on the chat template",
    "RL312": "needs the launch's tools",
    "RL313 a struct of booleans": "the oracle does not know which tools a row was meant to have",
    "RL501": "needs a vision processor",
    "RL502": "no exception: the tag is text",
    "RL503": "needs a vision processor",
    "RL504": "needs a vision processor",
    "RL505": "needs a vision processor",
    "RL601": "no exception: a statement about the data",
    "RL602": "no exception: a statement about the data",
    "RL603": "no exception: a statement about the data",
    "RL806": "no exception: what follows the last answer is not learnt from",
    "RL822": "no exception: a statement about the data",
}


def typed(t):
    if isinstance(t, dict):
        (kind, inner), = t.items()
        if kind == "struct":
            return pa.struct([pa.field(n, typed(f)) for n, f in inner])
        return (pa.list_ if kind == "list" else pa.large_list)(typed(inner))
    if t == "dictionary":
        return pa.dictionary(pa.int32(), pa.string())
    return pa.type_for_alias(t)


def ground_truth(source):
    if str(source).startswith("searchR1_"):
        return {"target": ["72"]}, pa.struct([("target", pa.list_(pa.string()))])
    if source in ("codecontests", "apps", "codeforces", "taco"):
        return '{"inputs": ["1"], "outputs": ["2"]}', pa.string()
    return "72", pa.string()


class Completed:
    """A file of an example with the columns of correct data added."""

    def __init__(self, m, f, first):
        self.rows = [json.loads(l) for l in f["text"].splitlines() if l.strip()]
        if len(self.rows) == 1 and m["rule"] in ("RL401", "RL405"):  # a trace tells samples apart: of one there is nothing to tell
            self.rows.append(json.loads(f["text"]))
        self.types = dict((n, typed(t)) for n, t in f["types"]["struct"])
        self.absent = {p for p in m["paths"] or [] if m["level"] != "off"}
        if m["rule"] == "RL405":
            self.absent.add("extra_info.index")
        source = next((r.get("data_source") for r in self.rows if isinstance(r.get("data_source"), str)), "openai/gsm8k")
        truth, truth_type = ground_truth(source)
        text = pa.string()
        message = pa.list_(pa.struct([("role", text), ("content", text)]))
        self.column("data_source", text, lambda i: source)
        self.column("prompt", message, lambda i: [{"role": "user", "content": f"What is {first + i + 2} times 12?"}])
        self.column("ability", text, lambda i: "math")
        self.column("reward_model", pa.struct([("style", text), ("ground_truth", truth_type)]), lambda i: {"style": "rule", "ground_truth": truth})
        self.field("reward_model", "ground_truth", truth_type, lambda i: truth)
        self.column("extra_info", pa.struct([("split", text)]), lambda i: {"split": "train"})
        self.field("extra_info", "index", pa.int64(), lambda i: first + i)
        info = self.types.get("extra_info")
        self.tools = []
        if pa.types.is_struct(info) and "tools_kwargs" in [x.name for x in info]:
            tk = info.field("tools_kwargs").type
            self.tools = [x.name for x in tk] if pa.types.is_struct(tk) else [] if pa.types.is_null(tk) else ["calc_gsm8k_reward"]
        if pa.types.is_struct(info) and {"need_tools_kwargs", "tool_selection"} & {x.name for x in info}:
            self.tools = self.tools or ["calc_gsm8k_reward"]
            create = {"create_kwargs": {"ground_truth": truth}}
            kwargs = pa.struct([("calc_gsm8k_reward", pa.struct([("create_kwargs", pa.struct([("ground_truth", truth_type)]))]))])
            self.field("extra_info", "tools_kwargs", kwargs, lambda i: {"calc_gsm8k_reward": create})
        if self.tools:
            self.column("agent_name", text, lambda i: "tool_agent")

    def column(self, name, t, value):
        if name not in self.types and name not in self.absent:
            self.types[name] = t
            for i, r in enumerate(self.rows):
                r[name] = value(i)

    def field(self, column, name, t, value):
        have = self.types.get(column)
        if have is None or not pa.types.is_struct(have) or name in [x.name for x in have] or f"{column}.{name}" in self.absent or column in self.absent:
            return
        self.types[column] = pa.struct(list(have) + [pa.field(name, t)])
        for i, r in enumerate(self.rows):
            if isinstance(r.get(column), dict):
                r[column][name] = value(i)

    def write(self, path):
        def clean(v, t):
            if v is None or pa.types.is_null(t):
                return None
            if pa.types.is_binary(t) and isinstance(v, str):
                return v.encode()
            if pa.types.is_struct(t):
                return {x.name: clean(v.get(x.name), x.type) for x in t}
            if pa.types.is_list(t) or pa.types.is_large_list(t):
                return [clean(x, t.value_type) for x in v]
            return v

        arrays = [pa.array([clean(r.get(n), t) for r in self.rows], t) for n, t in self.types.items()]
        pq.write_table(pa.Table.from_arrays(arrays, names=list(self.types)), path, row_group_size=2)


def plain(f, path):
    """A file of SFT or preference rows, as it is."""
    c = Completed.__new__(Completed)
    c.rows = [json.loads(l) for l in f["text"].splitlines() if l.strip()]
    c.types = dict((n, typed(t)) for n, t in f["types"]["struct"])
    c.write(path)


def sft(files):
    """What verl's SFT dataset says of each sample: [(row, message)]."""
    import oracle_kit
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

    tok, out = oracle_kit.tokenizer(), []
    try:
        ds = MultiTurnSFTDataset(files, tok, {"max_length": 8192, "pad_mode": "no_padding", "truncation": "error", "ignore_input_ids_mismatch": True})
    except Exception as e:
        return [(None, f"load: {type(e).__name__}: {e}")]
    for i in range(len(ds)):
        try:
            s = ds[i]
            text = tok.decode(s["input_ids"])
            lost = [m["content"] for m in ds.messages[i] if isinstance(m.get("content"), str) and m["content"] not in text]
            if lost:
                out.append((i, f"the message {lost[0]!r} never reaches the model"))
            if "null" in text:
                out.append((i, "a null in the text"))
        except Exception as e:
            out.append((i, f"{type(e).__name__}: {e}"))
    return out


def preference(files):
    import oracle_kit
    from verl.utils.dataset.rm_dataset import RMDataset

    try:
        ds = RMDataset(files, oracle_kit.tokenizer(), max_length=4096)
    except Exception as e:
        return [(None, f"load: {type(e).__name__}: {e}")]
    out = []
    for i in range(len(ds)):
        try:
            ds[i]
        except Exception as e:
            out.append((i, f"{type(e).__name__}: {e}"))
    return out


def rl(said, oracles, m, work):
    files, val, tools, first = [], [], [], 0
    for i, f in enumerate(m["files"]):
        c = Completed(m, f, first)
        first += len(c.rows)
        path = os.path.join(work, f"{m['set']}-{i}.parquet")
        c.write(path)
        (val if f["val"] else files).append(path)
        tools += [t for t in c.tools if t not in tools]
    oracle = oracles.of(tools[:1])
    out = []
    for e in said(oracle, m["set"], files, val):
        # what ends a batch is said of its first row; and of several tools the oracle has the first
        whole = e["stage"] == "batch" or e["stage"] == "trace" and e["kind"] == "error" or len(tools) > 1
        rows = [None] if whole else e.get("rows") or [None]
        out += [(r, f"{e['stage']} {e['kind']}: {e['msg']}") for r in rows if told(m, tools, e)]
    more = {"RL015": unheard, "RL210": unscored}.get(m["rule"])
    return files, val, out or (more(oracle, files) if more else [])


def unheard(oracle, files):
    """Prompts in bytes that do not reach the model; the oracle looks for text."""
    ds = oracle.load(files)
    told = [oracle.tok.apply_chat_template(list(ds[i]["raw_prompt"]), add_generation_prompt=True, tokenize=False) for i in range(len(ds))]
    texts = [[t["content"] for t in ds.dataframe[i]["prompt"] if isinstance(t["content"], bytes)] for i in range(len(ds))]
    return [(i, f"prompt: {x!r} does not reach the model") for i, t in enumerate(texts) for x in t if x.decode() not in told[i]]


def unscored(oracle, files):
    """Solutions that verl's scorer gives nothing; the oracle looks at GSM8K's alone."""
    from verl.utils.reward_score import default_compute_score

    out = []
    for i, r in enumerate(oracle.load(files).dataframe):
        text = (r["extra_info"] or {}).get("answer")
        if isinstance(text, str) and "boxed" in text and default_compute_score(r["data_source"], text, r["reward_model"]["ground_truth"]) <= 0:
            out.append((i, "reward: the row's own solution scores 0"))
    return out


def told(m, tools, e):
    """Whether an event is verl's word on the example, and no consequence of how it was filled up or of the oracle's tool."""
    if e["stage"] == "tool" and any(e["msg"] == turn.get("content") for turn in turns(m)):
        return False  # the oracle takes a tool's turn in the prompt for an answer of its tool
    if e["stage"] == "tool" and tools[:1] != ["calc_gsm8k_reward"]:
        return "reward=0" not in e["msg"]  # the oracle's tool is Gsm8kTool under that name, which only wants a ground truth
    if "extra_info.answer" in e["msg"] and not any("####" in f["text"] for f in m["files"]):
        return False  # the oracle takes any text of that name for a solution
    # RL009, RL010 and RL301 are about such columns
    return not (e["stage"] == "load" and "None-filled" in e["msg"]) or m["rule"] in ("RL009", "RL010", "RL301")


def turns(m):
    for f in m["files"]:
        for row in map(json.loads, filter(None, f["text"].splitlines())):
            yield from (t for t in row.get("prompt") or [] if isinstance(t, dict))


def found(tool, files, val):
    """What lint says of the files, for the default trainer and for the older one: [text], warnings and errors."""
    out = []
    for target in ("verl@0.9", "verl@0.9-v0"):
        argv = [tool, "lint", "--no-cache", "--target", target, "--output-format", "jsonl", *files]
        done = subprocess.run(argv + [a for v in val for a in ("--val", v)], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(argv)}: exit {done.returncode}: {done.stderr[-300:]}")
        out += [f"{f['rule']} {f['message']}" for f in map(json.loads, done.stdout.splitlines()) if f["level"] in ("warning", "error")]
    return out


def judge(tool, said, oracles, m, work):
    """Returns ("executed" | "read only", why, what is wrong or None)."""
    bad = m["level"] in ("warning", "error")
    why = m.get("skip") or m["level"] == "info" and "a note claims no consequence" or bad and (READ_ONLY.get(m["rule"]) or READ_ONLY.get(f"{m['rule']} {m['title']}"))
    if why:
        return "read only", why, None
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            files, val, events = written(m, work, said, oracles)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, ValueError, UnicodeEncodeError) as e:
        return "read only", f"pyarrow does not write it: {str(e)[:60]}", None
    if any("processor is needed" in text for _, text in events):
        return "read only", "needs a vision processor", None
    if not bad:  # of this rule; where another one minds, so may verl
        return "executed", "", events and not found(tool, files, val) and f"verl minds what lint does not: {events[0][1][:200]}"
    if not events:
        return "executed", "", "verl says nothing of a bad example"
    named = {r for r, _ in events if r is not None}
    missed = [r for r in m["rows"] or [] if r >= 0 and named and r not in named]
    return "executed", "", missed and f"rows {missed} are not among {sorted(named)}: {[text[:90] for _, text in events[:4]]}"


def written(m, work, said, oracles):
    """Writes the files of an example and returns them, those of validation, and what verl says: [(row, text)]."""
    if m["kind"] == "rl":
        return rl(said, oracles, m, work)
    files = []
    for i, f in enumerate(m["files"]):
        files.append(os.path.join(work, f"{m['set']}-{i}.parquet"))
        plain(f, files[-1])
    return files, [], (sft if m["kind"] == "sft" else preference)(files)


def run(tool, path, said, oracles, score, work, only):
    """Judges every example, or those of the rules in only; returns {rule: [executed, read only, why]} for the table."""
    table = {}
    with open(path, encoding="utf-8") as f:
        for m in map(json.loads, f):
            if only and m["rule"] not in only and m["set"] not in only:
                continue
            how, why, wrong = judge(tool, said, oracles, m, work)
            t = table.setdefault(m["rule"], [0, 0, set()])
            if how == "executed":
                t[0] += 1
                score.check(f"example {m['set']} ({m['title']})", wrong)
            else:
                t[1] += 1
                t[2].add(why)
    return table


def markdown(table):
    lines = ["| rule | examples that verl judged | read only | why |", "|---|---:|---:|---|"]
    for rule, (executed, read, why) in sorted(table.items()):
        lines.append(f"| [{rule}](rules/{rule}.md) | {executed} | {read} | {'; '.join(sorted(why)).replace('|', ' ')} |")
    return "\n".join(lines) + "\n"
