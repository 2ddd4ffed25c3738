"""Makes the benchmark data in .bench/ of the checkout, once: data.py [COPIES…], default 10 and 100.

Each problem of GSM8K's train split COPIES times over, in the order of the split, copy after copy. What makes the rows unique:
the question gets " [k]" at its end and the answer " [k]" before its last line, so `#### N` is extracted as before
(k: the number of the copy, from 0). Without the real GSM8K the repository's sample stands in for it, and the figures say so.

.bench/xN/rg7473/train.parquet, .bench/xN/rg122880/train.parquet   raw: question, answer; zstd, by pyarrow; the number is rows a row group
.bench/xN/hub/                                                     the first of the two laid out as the hub repository, for verl's own script
.bench/xN/verl/train.parquet                                       gsm8k rows in verl's shape, zstd, row groups of 122,880, for `add` and `lint`
.bench/xN/source.txt                                               what the rows were made of
"""
import os
import shutil
import sys

import pyarrow as pa
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


def writer(path, schema):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return pq.ParquetWriter(path + ".part", schema, compression="zstd")


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
    with writer(path, schema) as w:
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


def make(copies, problems, name):
    folder = os.path.join(BENCH, f"x{copies}")
    done = os.path.join(folder, "source.txt")
    if os.path.exists(done):
        return
    print(f"making {folder}", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    for rows in GROUPS:
        write(os.path.join(folder, f"rg{rows}", "train.parquet"), (sources.table(copy(problems, k)) for k in range(copies)), sources.RAW, rows)
    hub(os.path.join(folder, "hub"), os.path.join(folder, "rg7473", "train.parquet"))
    write(os.path.join(folder, "verl", "train.parquet"), verl_rows(problems, copies), reference.schema("gsm8k"), 122880)
    with open(done, "w") as f:
        f.write(f"{name} x {copies}: {len(problems) * copies} rows\n")


def main():
    problems, name = base()
    for copies in map(int, sys.argv[1:] or ["10", "100"]):
        make(copies, problems, name)


if __name__ == "__main__":
    main()
