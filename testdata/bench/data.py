"""Makes the benchmark data in .bench/ of the checkout, once: data.py [COPIES…], default 10 and 100.

Each problem of GSM8K's train split COPIES times over, in the order of the split, copy after copy. What makes the rows unique:
the question gets " [k]" at its end and the answer " [k]" before its last line, so `#### N` is extracted as before
(k: the number of the copy, from 0). Without the real GSM8K the repository's sample stands in for it, and the figures say so.
A file that is there stays as it is; remove .bench/ to make all anew.

.bench/xN/rg7473/train.parquet, .bench/xN/rg122880/train.parquet   raw: question, answer; zstd, by pyarrow; the number is rows a row group
.bench/xN/rgall/train.parquet                                      the same in one row group; not for ×10, which rg122880 has so
.bench/xN/hub/                                                     the first laid out as the hub repository, for verl's own script
.bench/xN/verl/train.parquet                                       gsm8k rows in verl's shape, zstd, row groups of 122,880
.bench/xN/verl1000/train.parquet, .bench/xN/verlall/train.parquet  the same in row groups of 1,000 and in one; from here on not for ×10
.bench/xN/bare/train.parquet                                       verl's rows without extra_info.index
.bench/xN/barenull/train.parquet                                   the same, and extra_info null in every eighth row or so, irregularly
.bench/xN/verlnull/train.parquet                                   verl's rows, where row 7,000 N has no data_source and the next no ground truth
.bench/xN/source.txt                                               what the rows were made of
"""
import os
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "testdata", "conformance"))
import reference  # noqa: E402
import sources  # noqa: E402

BENCH = os.path.join(ROOT, ".bench")
GROUPS = (7473, 122880)


def base():
    """The problems of one copy and the name of what they are."""
    real = reference.real()
    if real:
        return reference.problems(os.path.join(real, "train.jsonl")), "GSM8K"
    few = reference.problems(os.path.join(ROOT, "testdata", "sample", "train.jsonl"))
    problems = [mark(*p, f"s{i // len(few)}") for i, p in enumerate((few * (7473 // len(few) + 1))[:7473])]
    print("the real GSM8K is not there: the sample stands in for it", file=sys.stderr)
    return problems, "sample"


def mark(question, answer, k):
    before, line, last = answer.rpartition("\n####")
    return f"{question} [{k}]", f"{before} [{k}]{line}{last}" if line else answer


def copy(problems, k):
    return [mark(q, a, k) for q, a in problems]


def regroup(batches, rows):
    """Tables of so many rows from tables of any size."""
    held, n = [], 0
    for t in batches:
        held.append(t)
        n += t.num_rows
        while n >= rows:
            whole = pa.concat_tables(held)
            yield whole.slice(0, rows)
            held, n = [whole.slice(rows)], n - rows
    if n:
        yield pa.concat_tables(held)


def write(path, tables, schema, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with pq.ParquetWriter(path + ".part", schema, compression="zstd") as w:
        for t in regroup(tables, rows):
            w.write_table(t, row_group_size=rows)
    os.replace(path + ".part", path)


def verl_rows(problems, copies):
    """The gsm8k recipe's rows, from the reference, numbered through all copies."""
    schema = reference.schema("gsm8k")
    for k in range(copies):
        yield pa.Table.from_pylist([reference.row("gsm8k", "train", k * len(problems) + i, q, a) for i, (q, a) in enumerate(copy(problems, k))], schema)


def hub(folder, train):
    """The folder as verl's script reads it by load_dataset(FOLDER, "main")."""
    main = os.path.join(folder, "main")
    os.makedirs(main, exist_ok=True)
    shutil.copyfile(train, os.path.join(main, "train-00000-of-00001.parquet"))
    pq.write_table(pq.read_table(train).slice(0, 100), os.path.join(main, "test-00000-of-00001.parquet"))
    files = "".join(f"  - split: {s}\n    path: main/{s}-*\n" for s in ("train", "test"))
    with open(os.path.join(folder, "README.md"), "w") as f:
        f.write(f"---\nconfigs:\n- config_name: main\n  data_files:\n{files}---\n")


def groups(path):
    """The row groups of a file, as tables."""
    file = pq.ParquetFile(path)
    return (file.read_row_group(i) for i in range(file.num_row_groups))


def bare(tables, nulls):
    """Rows without extra_info.index; with nulls, extra_info is null where a hash of the row's number says so."""
    start = 0
    for t in tables:
        info = t["extra_info"].combine_chunks()
        fields = [f for f in info.type if f.name != "index"]
        n = np.arange(start, start + len(info), dtype=np.uint64)
        mask = pa.array((n * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(61) == 0) if nulls else None
        column = pa.StructArray.from_arrays([info.field(f.name) for f in fields], fields=fields, mask=mask)
        yield t.set_column(t.schema.get_field_index("extra_info"), "extra_info", column)
        start += len(info)


def hidden(tables, row):
    """Rows of which one has a null data_source and the next a null ground truth."""
    start = 0
    for t in tables:
        if start <= row < start + t.num_rows - 1:
            truth = t["reward_model"].combine_chunks()
            fields = list(truth.type)
            values = [null_at(truth.field(f.name), row + 1 - start) if f.name == "ground_truth" else truth.field(f.name) for f in fields]
            t = t.set_column(t.schema.get_field_index("reward_model"), "reward_model", pa.StructArray.from_arrays(values, fields=fields))
            t = t.set_column(t.schema.get_field_index("data_source"), "data_source", null_at(t["data_source"].combine_chunks(), row - start))
        yield t
        start += t.num_rows


def null_at(values, row):
    return pc.if_else(pa.array(np.arange(len(values)) == row), pa.scalar(None, values.type), values)


def make(copies, problems, name):
    """Makes what is not there."""
    total = copies * len(problems)

    def path(kind):
        return os.path.join(BENCH, f"x{copies}", kind, "train.parquet")

    def once(kind, tables, schema, rows):
        if not os.path.exists(path(kind)):
            print(f"making {path(kind)}", file=sys.stderr)
            write(path(kind), tables, schema, rows)

    for rows in GROUPS:
        once(f"rg{rows}", (sources.table(copy(problems, k)) for k in range(copies)), sources.RAW, rows)
    folder = os.path.join(BENCH, f"x{copies}", "hub")
    if not os.path.exists(os.path.join(folder, "README.md")):
        hub(folder, path("rg7473"))
    schema = reference.schema("gsm8k")
    once("verl", verl_rows(problems, copies), schema, 122880)
    if copies != 10:
        once("rgall", groups(path("rg7473")), sources.RAW, total)
        once("verl1000", groups(path("verl")), schema, 1000)
        once("verlall", groups(path("verl")), schema, total)
        at = schema.get_field_index("extra_info")
        short = schema.set(at, pa.field("extra_info", pa.struct([f for f in schema.field(at).type if f.name != "index"])))
        once("bare", bare(groups(path("verl")), False), short, 122880)
        once("verlnull", hidden(groups(path("verl")), 7000 * copies), schema, 122880)
        once("barenull", bare(groups(path("verl")), True), short, 122880)
    with open(os.path.join(BENCH, f"x{copies}", "source.txt"), "w") as f:
        f.write(f"{name} x {copies}: {total} rows\n")


def main():
    problems, name = base()
    for copies in map(int, sys.argv[1:] or ["10", "100"]):
        make(copies, problems, name)


if __name__ == "__main__":
    main()
