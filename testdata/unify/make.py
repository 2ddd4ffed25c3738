#!/usr/bin/env python3
"""Writes the files of this directory, by other writers than ours: in each folder the files of one split, of several schemas, want.jsonl,
the rows that they are together, and want.txt, their columns as pyarrow's permissive promotion has them, with plain strings and lists.

    python make.py          needs pyarrow, pandas, polars
"""
import datetime
import json
import os

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))


def arrow(name, rows, schema=None):
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), name + ".parquet", compression="zstd")


def polars(name, rows, schema=None):
    pl.DataFrame(rows, schema=schema).write_parquet(name + ".parquet")


def pandas(name, rows, types):
    pd.DataFrame(rows).astype(types).to_parquet(name + ".parquet", compression="zstd")


def lines(name, rows):
    with open(name + ".jsonl", "w") as f:
        f.writelines(json.dumps(r) + "\n" for r in rows)


def widths():
    pandas("0-pandas", [{"q": "a", "index": i, "score": 0.5, "votes": i} for i in range(3)], {"index": "int32", "score": "float32", "votes": "uint8"})
    arrow("1-pyarrow", [{"q": "b", "index": 2**40, "score": -1e300, "votes": 40000}], pa.schema([("q", pa.large_string()), ("index", pa.int64()), ("score", pa.float64()), ("votes", pa.uint16())]))
    polars("2-polars", [{"q": "c", "index": 127, "score": 7, "votes": -1}], {"q": pl.String, "index": pl.Int8, "score": pl.Int64, "votes": pl.Int32})
    lines("3-lines", [{"votes": None, "q": "d", "score": 1, "index": 3}])
    return {"q": pa.string(), "index": pa.int64(), "score": pa.float64(), "votes": pa.int32()}


def strings():
    polars("0-polars", [{"q": "ünï", "tags": ["a", "b"], "level": "easy"}, {"q": None, "tags": [], "level": None}])
    pandas("1-pandas", [{"q": "x", "tags": ["c"], "level": l} for l in ["hard", "easy", "hard"]], {"level": "category"})
    arrow("2-pyarrow", [{"q": "y", "tags": ["d", None], "level": "easy"}], pa.schema([("q", pa.string_view()), ("tags", pa.list_(pa.large_string(), 2)), ("level", pa.string())]))
    return {"q": pa.string(), "tags": pa.list_(pa.string()), "level": pa.string()}


def nulls():
    arrow("0-pyarrow", [{"q": "a", "answer": None, "tags": [None], "info": None, "chat": []}])
    lines("1-lines", [{"q": "b", "answer": "72", "tags": ["x"], "info": {"split": "train", "n": None}, "chat": [{"role": "user", "content": None}]}])
    pandas("2-pandas", [{"q": None, "answer": "1"}, {"q": None, "answer": None}], {})
    arrow("3-pyarrow", [{"answer": "2", "info": {"split": None, "n": 4}, "chat": [{"role": "user", "content": "hi"}, None]}])
    info, chat = pa.struct([("split", pa.string()), ("n", pa.int64())]), pa.struct([("role", pa.string()), ("content", pa.string())])
    return {"q": pa.string(), "answer": pa.string(), "tags": pa.list_(pa.string()), "info": info, "chat": pa.list_(chat)}


def structs():
    reward = {"style": "rule", "ground_truth": "72"}
    arrow("0-whole", [{"turns": [{"role": "user", "content": "1+1?"}], "reward_model": reward, "extra_info": {"split": "train", "index": 0}}])
    arrow("1-lacks", [{"extra_info": {"index": 1}, "turns": [{"content": "2+2?", "role": "user"}, {"content": "4", "role": "assistant"}], "reward_model": {"ground_truth": "4"}}, {"extra_info": None, "turns": None, "reward_model": {"ground_truth": None}}])
    calls = [{"type": "function", "args": [1, 2]}]
    arrow("2-more", [{"turns": [{"role": "user", "content": "3+3?", "tool_calls": None}, {"role": "assistant", "content": "", "tool_calls": calls}], "extra_info": {"split": None, "index": 3, "meta": {"id": "x", "seen": [True]}}}, {"turns": [], "extra_info": None}])
    call = pa.struct([("type", pa.string()), ("args", pa.list_(pa.int64()))])
    meta = pa.struct([("id", pa.string()), ("seen", pa.list_(pa.bool_()))])
    return {"turns": pa.list_(pa.struct([("role", pa.string()), ("content", pa.string()), ("tool_calls", pa.list_(call))])),
            "reward_model": pa.struct([("style", pa.string()), ("ground_truth", pa.string())]),
            "extra_info": pa.struct([("split", pa.string()), ("index", pa.int64()), ("meta", meta)])}


def fit(v, t):
    if v is None:
        return None
    if pa.types.is_struct(t):
        assert not set(v) - {f.name for f in t}
        return {f.name: fit(v.get(f.name), f.type) for f in t}
    if pa.types.is_list(t):
        return [fit(e, t.value_type) for e in v]
    return float(v) if pa.types.is_floating(t) else v


def named(t):
    """t as text, with lists as we print them."""
    if pa.types.is_struct(t):
        return "struct<" + ", ".join(f"{f.name}: {named(f.type)}" for f in t) + ">"
    return f"list<element: {named(t.value_type)}>" if pa.types.is_list(t) else str(t)


for case in [widths, strings, nulls, structs]:
    os.makedirs(os.path.join(HERE, case.__name__), exist_ok=True)
    os.chdir(os.path.join(HERE, case.__name__))
    types = case()
    whole = pa.struct(list(types.items()))
    with open("want.jsonl", "w") as f:
        for name in sorted(n for n in os.listdir() if n[0].isdigit()):
            rows = [json.loads(l) for l in open(name)] if name.endswith(".jsonl") else pq.read_table(name).to_pylist()
            for r in rows:
                f.write(json.dumps(fit(r, whole), ensure_ascii=False, separators=(",", ":")) + "\n")
    with open("want.txt", "w") as f:
        f.writelines(f"{n}: {named(t)}\n" for n, t in types.items())
