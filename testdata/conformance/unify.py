"""Random files of several schemas, brought to one by the step unify, against the rows that pyarrow reads in each.

Usage: unify.py RLPREP [--cases N] [--seed S] [--case I] [--keep]. Each case is two to four files, made from one random nested table by
leaving out columns and fields, putting them in another order, and taking other widths, string kinds, list kinds and null columns; some
are JSON Lines. All columns and fields must come out, every value equal, what a file lacks null, in the order of
pyarrow.unify_schemas(promote_options="permissive"), with types that hold those of every file.
"""
import argparse
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

WIDER = {pa.int64(): [pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32()], pa.float64(): [pa.float32(), pa.int32(), pa.int16(), pa.int64()],
         pa.string(): [pa.large_string(), pa.dictionary(pa.int32(), pa.string())], pa.uint64(): [pa.uint8(), pa.uint32()], pa.float32(): [pa.float32()]}
WHOLE = [pa.bool_(), pa.binary(), pa.date32(), pa.timestamp("us"), pa.timestamp("ms", "UTC"), pa.decimal128(9, 2), pa.time64("us")]


def base(rng, depth):
    r = rng.random()
    if depth and r < 0.2:
        return pa.struct([(f"f{i}", base(rng, depth - 1)) for i in range(rng.randint(1, 4))])
    if depth and r < 0.4:
        return pa.list_(base(rng, depth - 1))
    return rng.choice(list(WIDER) * 3 + WHOLE)


def narrowed(rng, t, line):
    """t as another file may have it."""
    if rng.random() < 0.02:
        t = base(rng, 1)
        line = False
    if rng.random() < 0.1 and not line:
        return pa.null()
    if pa.types.is_struct(t):
        kept = [f for f in t if rng.random() > 0.25] or [t[0]]
        rng.shuffle(kept)
        return pa.struct([(f.name, narrowed(rng, f.type, line)) for f in kept])
    if pa.types.is_list(t):
        make = pa.list_ if line else rng.choice([pa.list_, pa.list_, pa.large_list, lambda e: pa.list_(e, 2)])
        return make(narrowed(rng, t.value_type, line))
    if line:
        return t
    return rng.choice([t, *WIDER.get(t, [])])


def value(rng, t):
    if rng.random() < 0.2 or pa.types.is_null(t):
        return None
    if pa.types.is_struct(t):
        return {f.name: value(rng, f.type) for f in t}
    if pa.types.is_fixed_size_list(t):
        return [value(rng, t.value_type) for _ in range(t.list_size)]
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return [value(rng, t.value_type) for _ in range(rng.choice([0, 0, 1, 2, 5]))]
    if pa.types.is_dictionary(t) or pa.types.is_string(t) or pa.types.is_large_string(t):
        return rng.choice(["", "a", "ünï", "#### 72", "x" * 50])
    if pa.types.is_integer(t):
        bits, signed = t.bit_width, pa.types.is_signed_integer(t)
        high = 2 ** (bits - 1 if signed else bits) - 1
        low = -high - 1 if signed else 0
        return rng.choice([low, high, 0, 1]) if bits < 64 else rng.choice([0, 7, 2**53, 2**40, 2**53, rng.choice([5, 2**53 + 1])])
    if pa.types.is_floating(t):
        return rng.choice([0.0, 0.5, -3.25, 1e6])
    return {pa.bool_(): True, pa.binary(): b"\x00\xff", pa.date32(): datetime.date(2024, 2, 29), pa.timestamp("us"): datetime.datetime(2024, 2, 29, 1, 2, 3, 456789),
            pa.timestamp("ms", "UTC"): datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=datetime.timezone.utc), pa.time64("us"): datetime.time(1, 2, 3)}.get(t) if not pa.types.is_decimal(t) else __import__("decimal").Decimal("-12.34")


def write(rng, folder, i, schema, rows):
    line = all(lines(f.type) for f in schema) and rng.random() < 0.3
    if line:
        with open(os.path.join(folder, f"{i}.jsonl"), "w") as f:
            for r in rows:
                f.write(json.dumps(r, ensure_ascii=False) + "\n")
        return f.name
    name = os.path.join(folder, f"{i}.parquet")
    table = pa.Table.from_pylist(rows, schema=schema)
    plain = all(polar(f.type) for f in schema)
    if plain and rng.random() < 0.3:
        pl.from_arrow(table).write_parquet(name)
    else:
        pq.write_table(table, name, row_group_size=rng.choice([3, 1000]), compression=rng.choice(["zstd", "snappy"]))
    return name


def lines(t):
    if pa.types.is_struct(t):
        return all(lines(f.type) for f in t)
    if pa.types.is_list(t):
        return lines(t.value_type)
    return t in (pa.int64(), pa.string(), pa.bool_(), pa.float64())


def polar(t):
    if pa.types.is_struct(t):
        return all(polar(f.type) for f in t)
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return polar(t.value_type)
    return not (pa.types.is_fixed_size_list(t) or pa.types.is_decimal(t) or pa.types.is_null(t) or pa.types.is_time(t) or pa.types.is_dictionary(t))


def fit(v, t):
    """v, of a file, as a value of type t; fields that t lacks are a fault."""
    if v is None:
        return None
    if pa.types.is_struct(t):
        have = [f.name for f in t]
        assert not set(v) - set(have), f"fields {set(v) - set(have)} are gone"
        return {n: fit(v.get(n), t.field(n).type) for n in have}
    if isinstance(v, list):
        return [fit(e, t.value_type) for e in v]
    return v


def plain(t):
    if pa.types.is_struct(t):
        return pa.struct([(f.name, plain(f.type)) for f in t])
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return pa.list_(plain(t.value_type))
    if pa.types.is_dictionary(t):
        return plain(t.value_type)
    return {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}.get(t, t)


def holds(t, u):
    """Whether type t holds what u does."""
    if pa.types.is_struct(t) and pa.types.is_struct(u):
        return all(holds(t.field(f.name).type, f.type) for f in u)
    if pa.types.is_list(t) and pa.types.is_list(u):
        return holds(t.value_type, u.value_type)
    if pa.types.is_integer(u) and pa.types.is_floating(t):
        return t == pa.float64()
    return t == u or pa.types.is_null(u) or (t.bit_width > u.bit_width if pa.types.is_primitive(t) and pa.types.is_primitive(u) else False)


def case(binary, seed, folder):
    rng = random.Random(seed)
    schema = pa.schema([(f"c{i}", base(rng, 3)) for i in range(rng.randint(1, 6))])
    want, schemas, stored = [], [], []  # stored: of Parquet files; JSON Lines have the types of their values
    for i in range(rng.randint(2, 4)):
        line = rng.random() < 0.4
        kept = [f for f in schema if rng.random() > 0.2] or [schema[0]]
        rng.shuffle(kept)
        s = pa.schema([(f.name, narrowed(rng, f.type, line)) for f in kept])
        rows = [{f.name: value(rng, f.type) for f in s} for _ in range(rng.choice([1, 4, 9]))]
        name = write(rng, folder, i, s, rows)
        if name.endswith(".parquet"):
            table = pq.read_table(name)
            rows, s = table.to_pylist(), table.schema
            stored.append(s)
        schemas.append(s)
        want += rows
    with open(os.path.join(folder, "p.yaml"), "w") as f:
        f.write("sources: {train: ['[0-9].*']}\nsteps:\n- unify\n- set: {path: prompt, value: p}\n- set: {path: chosen, value: c}\n- set: {path: rejected, value: r}\ncontract: {rows: preference}\n")
    out = os.path.join(folder, "out")
    run = subprocess.run([binary, "run", os.path.join(folder, "p.yaml"), "-o", out, "-q", "--json"], capture_output=True, text=True)
    alone = subprocess.run([binary, "run", os.path.join(folder, "p.yaml"), "-o", out + "1", "-q", "-j", "1"], capture_output=True, text=True)
    if run.returncode == 1 and "null" in run.stdout + run.stderr and "no column" not in run.stderr:
        return "finding"
    if run.returncode == 2 and "no type holds both" in run.stderr:
        try:
            merged = pa.unify_schemas([pa.schema([(f.name, plain(f.type)) for f in s]) for s in schemas], promote_options="permissive")
        except pa.ArrowTypeError:
            return "refused by both"
        assert any(t in run.stderr for t in ("uint64", "decimal", "binary")), f"{run.stderr}pyarrow: {merged}"
        return "refused by rlprep"
    if run.returncode == 2 and "cannot hold it exactly" in run.stderr:
        return "inexact"
    assert run.returncode == 0, run.stderr + run.stdout
    assert alone.returncode == 0, alone.stderr
    a, b = (open(os.path.join(o, "train.parquet"), "rb").read() for o in (out, out + "1"))
    assert a == b, "other bytes with one worker"
    got = pq.read_table(os.path.join(out, "train.parquet"))
    got = got.drop_columns(["prompt", "chosen", "rejected"])
    rows = got.to_pylist()
    assert len(rows) == len(want), f"{len(rows)} rows of {len(want)}"
    whole = pa.struct(list(got.schema))
    for i, (r, w) in enumerate(zip(rows, want)):
        assert r == fit(w, whole), f"row {i}:\n{r}\nwant\n{fit(w, whole)}"
    try:
        merged = pa.unify_schemas([pa.schema([(f.name, plain(f.type)) for f in s]) for s in schemas], promote_options="permissive")
    except pa.ArrowTypeError:
        return "pyarrow refuses"
    assert got.schema.names == merged.names, f"{got.schema.names}, pyarrow {merged.names}"
    for s in stored:
        for f in s:
            assert holds(got.schema.field(f.name).type, plain(f.type)), f"{got.schema.field(f.name)} does not hold {f}"
    return "equal"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("--cases", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--case", type=int)
    p.add_argument("--keep", action="store_true")
    a = p.parse_args()
    count, failed = {}, 0
    for i in [a.case] if a.case is not None else range(a.cases):
        folder = tempfile.mkdtemp(prefix="unify-")
        try:
            how = case(os.path.abspath(a.binary), a.seed * 1000003 + i, folder)
        except AssertionError as e:
            how, failed = "failed", failed + 1
            print(f"case {i}: {e}", file=sys.stderr)
        count[how] = count.get(how, 0) + 1
        if a.keep:
            print(folder)
        else:
            shutil.rmtree(folder)
    print("unify:", ", ".join(f"{n} {k}" for k, n in sorted(count.items())))
    sys.exit(failed > 0 or a.case is None and count.get("equal", 0) < a.cases / 4)


main()
