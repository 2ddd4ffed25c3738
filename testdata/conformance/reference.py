"""What verl's five gsm8k scripts (January 2026) write, said a second time in plain Python.

A second telling, so that outputs are held to something that shares no code with rlprep. It is itself held to GOLDEN: the
sha256 of every row that verl's own scripts gave on the real GSM8K.
"""
import hashlib
import json
import os
import re

import pyarrow as pa

RECIPES = ["gsm8k", "gsm8k_multiturn_w_tool", "gsm8k_tool_agent_loop", "gsm8k_multiturn_w_interaction", "gsm8k_multiturn_sft"]

GOLDEN = {
    ("gsm8k", "train"): "66d49df1d32f41fbcd0c9da26818a8974c6083d2633b26c849bde5ea563ef500",
    ("gsm8k", "test"): "a67596fd97297be2fea4043625646997230f089590fb034927ada6560ec12052",
    ("gsm8k_multiturn_w_tool", "train"): "ebbb209c53cf619eb9f230b7f46e253670212983ba3b290a0567f08a20129bf0",
    ("gsm8k_multiturn_w_tool", "test"): "ddcc40cbcf1a75513fdf9c2881f68b4b4e053175d1831bae0004a1b9e88ee365",
    ("gsm8k_tool_agent_loop", "train"): "c4a92e82d349ccaa6e7b140f5c034cb2749b1c56bab506e2903142fa608ca26f",
    ("gsm8k_tool_agent_loop", "test"): "bac9d940bb37d49656dae0e04259fdbc72b6fbdaf1e4b938de1bd7dbf16452ae",
    ("gsm8k_multiturn_w_interaction", "train"): "e4111c491742cb7cffe331b77f6465053f9e7acf28223ee1e87843ce28428e5b",
    ("gsm8k_multiturn_w_interaction", "test"): "8664e8378429e92fab0fdbec0b0f15db1f751a2bb73c9490fa441b8838d48f67",
    ("gsm8k_multiturn_sft", "train"): "56a684b6a466aa7dbd4eac934c5b21b746628c293af9da3930997330234a8137",
    ("gsm8k_multiturn_sft", "test"): "8c7ba15fdc961ee80a2c682f454a113a5316f2d5137c2ba26626dfe37180f2be",
}
ROWS = {"train": 7473, "test": 1319}  # of the real GSM8K

PLAIN = 'Let\'s think step by step and output the final answer after "####".'
TICKS = "Let's think step by step and output the final answer after `####`."
EXPERT = "You are a math expert. You are given a question and you need to solve it step by step. "
FORMAT = "Put your final answer in the format of `#### <answer>`."
WITH_TOOL = (
    EXPERT + "Reasoning step by step before any tool call. You should use the `calc_gsm8k_reward` tool after step by step "
    "solving the question, before generate final answer at least once and refine your answer if necessary. " + FORMAT
)
RETHINK = EXPERT + "You should rethinking carefully if user point out your answer is wrong. " + FORMAT


def say(role, content):
    return {"role": role, "content": content}


def row(recipe, split, index, question, answer):
    """The row that the recipe makes of one problem."""
    ticks = recipe not in ("gsm8k", "gsm8k_multiturn_sft")
    user = question + " " + (TICKS if ticks else PLAIN)
    if recipe == "gsm8k_multiturn_sft":
        return {"messages": [say("user", user), say("assistant", answer)]}
    truth = re.search(r"#### (-?[0-9.,]+)", answer).group(1).replace(",", "")
    tool = recipe in ("gsm8k_multiturn_w_tool", "gsm8k_tool_agent_loop")
    info = {"split": split, "index": index, "answer": answer, "question": question}
    if tool:
        info["need_tools_kwargs"] = True
        info["tools_kwargs"] = {"calc_gsm8k_reward": {"create_kwargs": {"ground_truth": truth}}}
        info["interaction_kwargs"] = {"query": user, "ground_truth": truth}
    elif ticks:
        info["interaction_kwargs"] = {"name": "gsm8k", "query": user, "ground_truth": truth}
    system = WITH_TOOL if tool else RETHINK if ticks else None
    out = {"data_source": "openai/gsm8k"}
    if recipe == "gsm8k_tool_agent_loop":
        out["agent_name"] = "tool_agent"
    out["prompt"] = ([say("system", system)] if system else []) + [say("user", user)]
    return out | {"ability": "math", "reward_model": {"style": "rule", "ground_truth": truth}, "extra_info": info}


def _type(value):
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int):
        return pa.int64()
    if isinstance(value, str):
        return pa.string()
    if isinstance(value, list):
        return pa.list_(pa.field("element", _type(value[0])))
    return pa.struct([pa.field(k, _type(v)) for k, v in value.items()])


def schema(recipe):
    """The Arrow schema of verl's own files."""
    one = row(recipe, "train", 0, "How many?", "One.\n#### 1")
    return pa.schema([pa.field(k, _type(v)) for k, v in one.items()])


def problems(path):
    """The problems of a JSON Lines file, as (question, answer)."""
    with open(path, encoding="utf-8", newline="\n") as f:
        return [(p["question"], p["answer"]) for p in map(json.loads, f)]


def rows(recipe, split, problems):
    return [row(recipe, split, i, q, a) for i, (q, a) in enumerate(problems)]


def table(recipe, split, problems):
    return pa.Table.from_pylist(rows(recipe, split, problems), schema=schema(recipe))


def line(row):
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def sha256(rows):
    """The canonical hash of rows: compact JSON in schema order, joined by LF, with none at the end."""
    return hashlib.sha256("\n".join(map(line, rows)).encode()).hexdigest()


def shared(*parts):
    """A path below the shared data folder: $RLPREP_SHARED, else ../shared beside the repository."""
    root = os.environ.get("RLPREP_SHARED") or os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared")
    return os.path.abspath(os.path.join(root, *parts))


def real():
    """The folder of the real GSM8K, None where it is not there."""
    d = shared("data", "gsm8k")
    return d if os.path.exists(os.path.join(d, "train.jsonl")) else None
