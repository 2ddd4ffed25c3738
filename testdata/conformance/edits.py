"""Random files by five writers, edited by rlprep, against the same edit made on the rows that pyarrow reads.

Usage: edits.py RLPREP [--cases N] [--seed S] [--case I] [--jobs N] [--keep]. Each case is a random nested table (null structs, lists, maps,
odd names), written by pyarrow (pages v1 or v2), Polars, DuckDB or HF datasets with random row groups, pages and codecs, and one add,
drop, rename, select or reshard. The output is read by pyarrow and by DuckDB or Polars; its column chunks that the edit does not
concern must be the source's, byte for byte; statistics, page index and metadata must tell the truth. --case I does case I alone.
"""
import argparse
import collections
import concurrent.futures
import datetime
import decimal
import hashlib
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import footer
import readers

import datasets
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

WRITERS = ["pyarrow v1", "pyarrow v2", "Polars", "DuckDB", "HF datasets"]
EDITS = ["add", "add", "add", "replace", "fill", "fill", "drop", "rename", "select", "reshard"]
NAMES = ["a", "b", "c", "d", "extra_info", "index", "tools_kwargs", "prompt", "role", "content", "x.y", "ünï", "a b", "q\"t", "k=v"]
SHARE = 5  # one case of each writer in so many

# --- tables -------------------------------------------------------------------------------------------------------------


class Gen:
    def __init__(self, rng, writer):
        self.rng, self.writer = rng, writer
        self.arrow = writer.startswith("pyarrow")

    def names(self, n):
        out = self.rng.sample(NAMES, min(n, len(NAMES)))
        return out + [f"f{i}" for i in range(n - len(out))]

    def scalar(self):
        plain = [pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.int32(), pa.float64(), pa.bool_(), pa.binary(), pa.timestamp("us"), pa.date32()]
        if self.arrow:
            plain += [pa.large_string(), pa.int16(), pa.float32(), pa.decimal128(12, 3), pa.timestamp("ms", "UTC"), pa.uint32(), pa.binary(4)]
        if self.writer == "HF datasets":
            plain += [pa.large_string(), pa.float32()]
        return self.rng.choice(plain)

    def type(self, depth):
        r = self.rng.random()
        if depth >= 3 or r < 0.45:
            return self.scalar()
        if r < 0.75:
            return pa.struct([self.field(n, depth + 1) for n in self.names(self.rng.randint(1, 4))])
        if r < 0.97 or self.writer in ("Polars", "HF datasets"):
            if self.arrow and self.rng.random() < 0.2:
                return pa.large_list(self.field("element", depth + 1))
            return pa.list_(self.field("element", depth + 1))
        return pa.map_(pa.string(), self.scalar())

    def field(self, name, depth):
        return pa.field(name, self.type(depth), nullable=not (self.arrow and self.rng.random() < 0.15))

    def value(self, field, p):
        rng, t = self.rng, field.type
        if field.nullable and rng.random() < p:
            return None
        if pa.types.is_struct(t):
            return {f.name: self.value(f, p) for f in t}
        if pa.types.is_list(t) or pa.types.is_large_list(t):
            return [self.value(t.value_field, p) for _ in range(rng.choice([0, 1, 2, 2, 5]))]
        if pa.types.is_map(t):
            return [(f"k{i}", self.value(t.item_field, p)) for i in range(rng.choice([0, 1, 3]))]
        if pa.types.is_string(t) or pa.types.is_large_string(t):
            return rng.choice(["", "x", "train", "gsm8k", "äöü✓", rng.choice("abcdef") * rng.choice([1, 3, 70, 400])])
        if pa.types.is_boolean(t):
            return rng.random() < 0.5
        if pa.types.is_fixed_size_binary(t):
            return rng.randbytes(4)
        if pa.types.is_binary(t):
            return rng.randbytes(rng.choice([0, 1, 8, 100]))
        if pa.types.is_floating(t):
            return rng.choice([0.0, -0.0, 1.5, float(rng.randint(-1000, 1000)), math.inf])
        if pa.types.is_timestamp(t):
            at = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=rng.randint(0, 10**8))
            return at.replace(tzinfo=datetime.timezone.utc) if t.tz else at
        if pa.types.is_date(t):
            return datetime.date(2020, 1, 1) + datetime.timedelta(days=rng.randint(-9000, 9000))
        if pa.types.is_decimal(t):
            return decimal.Decimal(rng.randint(-(10**9), 10**9)).scaleb(-3)
        bits = t.bit_width
        low = 0 if pa.types.is_unsigned_integer(t) else -(1 << (bits - 1))
        return rng.choice([0, 1, 2, 3, rng.randint(low, (1 << (bits if low == 0 else bits - 1)) - 1)])

    def table(self, rows):
        fields = [self.field(n, 0) for n in self.names(self.rng.randint(1, 6))]
        arrays = []
        for f in fields:
            p = self.rng.choice([0, 0, 0.1, 0.3, 0.5, 1])
            arrays.append(pa.array([self.value(f, p) for _ in range(rows)], f.type))
        return pa.table(arrays, schema=pa.schema(fields))


def write(rng, writer, table, path):
    """Writes the table, with random row groups, pages and codec."""
    rows = table.num_rows
    group = rng.choice([1, 7, 50, 1000, 1 << 20]) if rows else 1000
    if writer.startswith("pyarrow"):
        pq.write_table(table, path, row_group_size=max(group, rows // 20), data_page_size=rng.choice([64, 1000, 1 << 20]), write_batch_size=rng.choice([1, 16, 1024]),
                       compression=rng.choice(["none", "snappy", "gzip", "brotli", "lz4", "zstd"]), use_dictionary=rng.random() < 0.7,
                       write_statistics=rng.random() < 0.9, write_page_index=rng.random() < 0.5, write_page_checksum=rng.random() < 0.5,
                       data_page_version="1.0" if writer.endswith("v1") else "2.0", store_schema=rng.random() < 0.8)
    elif writer == "Polars":
        pl.from_arrow(table).write_parquet(path, compression=rng.choice(["uncompressed", "snappy", "gzip", "lz4", "zstd"]), row_group_size=max(group, rows // 20, 1),
                                           data_page_size=rng.choice([64, 1000, 1 << 20]), statistics=rng.random() < 0.9)
    elif writer == "DuckDB":
        con = duckdb.connect()
        con.execute("SET threads=1")
        con.register("t", table)
        con.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION {rng.choice(['uncompressed', 'snappy', 'gzip', 'zstd'])}, ROW_GROUP_SIZE {max(group, 128)}, PARQUET_VERSION {rng.choice(['v1', 'v2'])})")
        con.close()
    else:
        datasets.Dataset(table).to_parquet(path, batch_size=max(group, rows // 20, 1))


# --- the model ----------------------------------------------------------------------------------------------------------


class Node:
    """A column of the model. src: the leaves of the source it stands for, None once the edit may write it anew."""

    def __init__(self, name, kind, kids=(), src=None, type=None, nullable=True):
        self.name, self.kind, self.kids, self.src, self.type, self.nullable = name, kind, list(kids), src, type, nullable

    @classmethod
    def of(cls, field, counter):
        t = field.type
        if pa.types.is_struct(t):
            return cls(field.name, "struct", [cls.of(f, counter) for f in t], nullable=field.nullable)
        if pa.types.is_list(t) or pa.types.is_large_list(t):
            return cls(field.name, "list", [cls.of(t.value_field, counter)], nullable=field.nullable)
        if pa.types.is_map(t):
            return cls(field.name, "map", [cls.of(t.key_field, counter), cls.of(t.item_field, counter)], nullable=field.nullable)
        counter[0] += 1
        return cls(field.name, "leaf", src=counter[0] - 1, type=t, nullable=field.nullable)

    def leaves(self):
        return [self] if self.kind == "leaf" else [x for k in self.kids for x in k.leaves()]

    def spelling(self):
        if self.kind == "leaf":
            return readers.spelling(self.type)
        if self.kind == "struct":
            return "{" + ",".join(f"{k.name}:{k.spelling()}" for k in self.kids) + "}"
        if self.kind == "list":
            return "[" + self.kids[0].spelling() + "]"
        return f"map<{self.kids[0].spelling()}, {self.kids[1].spelling()}>"

    def clone(self, name):
        return Node(name, self.kind, [k.clone(k.name) for k in self.kids], None, self.type, self.nullable)

    def forget(self):
        for leaf in self.leaves():
            leaf.src = None


def spell(t):
    """readers.spelling, with maps."""
    if pa.types.is_map(t):
        return f"map<{spell(t.key_type)}, {spell(t.item_type)}>"
    if pa.types.is_struct(t):
        return "{" + ",".join(f"{f.name}:{spell(f.type)}" for f in t) + "}"
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_list_view(t):
        return "[" + spell(t.value_type) + "]"
    return readers.spelling(t)


def quote(name):
    return json.dumps(name, ensure_ascii=False) if re.search(r'[.\[\]"\\,= \t\n]', name) or not name else name


def text(path):
    out = ""
    for step in path:
        out += "[]" if step == "[]" else ("." if out else "") + quote(step)
    return out


class Model:
    def __init__(self, table):
        counter = [0]
        self.root = Node("", "struct", [Node.of(f, counter) for f in table.schema], nullable=False)
        self.rows = table.to_pylist()

    def paths(self, lists=False):
        """Every path to a column or a field; lists: also to fields of structs in lists."""
        out = []

        def walk(node, path):
            if node.kind == "struct":
                for k in node.kids:
                    out.append((path + (k.name,), k))
                    walk(k, path + (k.name,))
            elif node.kind == "list" and lists:
                walk(node.kids[0], path + ("[]",))

        walk(self.root, ())
        return out

    def find(self, path):
        at = self.root
        for step in path:
            at = at.kids[0] if step == "[]" else next((k for k in at.kids if k.name == step), None) if at.kind == "struct" else None
            if at is None:
                return None
        return at

    def get(self, row, path):
        for step in path:
            if row is None:
                return None
            row = row[step]
        return row

    def put(self, path, node, value, mode, after=None):
        """Writes a column. value(i, row) is its value in row i. mode: add, replace or fill."""
        way, at = [], self.root
        for step in path[:-1]:
            way.append(at)
            nxt = next((k for k in at.kids if k.name == step), None)
            if nxt is None:
                nxt = Node(step, "struct")
                at.kids.append(nxt)
                for row in self.rows:
                    parent = self.get(row, tuple(w.name for w in way[1:]))
                    if parent is not None:
                        parent[step] = {}
            at = nxt
        name = path[-1]
        old = next((k for k in at.kids if k.name == name), None)
        if mode == "fill":
            for depth in range(1, len(path)):
                struct = self.find(path[:depth])
                if struct.nullable:
                    struct.forget()
        for i, row in enumerate(self.rows):
            v = value(i, row)
            parent, blank = row, self.root
            for step in path[:-1]:
                blank = next(k for k in blank.kids if k.name == step)
                if parent[step] is None and mode == "fill":
                    parent[step] = empty(blank)
                parent = parent[step]
                if parent is None:
                    break
            if parent is not None and not (mode == "fill" and old is not None and parent.get(name) is not None):
                parent[name] = v
        if mode == "fill" and old is not None:
            old.forget()
            return
        node.name = name
        if old is not None:
            at.kids[at.kids.index(old)] = node
        elif after is not None:
            at.kids.insert(next(i for i, k in enumerate(at.kids) if k.name == after) + 1, node)
        else:
            at.kids.append(node)

    def drop(self, path):
        parent = self.find(path[:-1])
        parent.kids = [k for k in parent.kids if k.name != path[-1]]
        for row in self.rows:
            for holder in self.holders(row, path[:-1]):
                del holder[path[-1]]

    def holders(self, value, path):
        """Every struct at path in a value, list elements followed."""
        if value is None:
            return
        if not path:
            yield value
        elif path[0] == "[]":
            for v in value:
                yield from self.holders(v, path[1:])
        else:
            yield from self.holders(value[path[0]], path[1:])

    def rename(self, path, name):
        parent = self.find(path[:-1])
        next(k for k in parent.kids if k.name == path[-1]).name = name
        for row in self.rows:
            for holder in self.holders(row, path[:-1]):
                holder[name] = holder.pop(path[-1])


# --- edits --------------------------------------------------------------------------------------------------------------


def uuid(seed, n):
    h = bytearray(hashlib.sha256(b"rlprep row " + seed.to_bytes(8, "big") + n.to_bytes(8, "big")).digest())
    h[6], h[8] = h[6] & 15 | 0x80, h[8] & 0x3F | 0x80
    x = h.hex()
    return f"{x[:8]}-{x[8:12]}-{x[12:16]}-{x[16:20]}-{x[20:32]}"


def leaf(t):
    return Node("", "leaf", type=t)


class Edit:
    def __init__(self, rng, model, kind, path):
        self.rng, self.model, self.kind, self.path, self.args = rng, model, kind, path, []
        self.circular = False
        getattr(self, {"replace": "add", "fill": "add"}.get(kind, kind))()

    def constant(self):
        rng = self.rng
        return rng.choice([
            ("tool_agent", leaf(pa.string()), "tool_agent"), ("", leaf(pa.string()), ""), ("str:@row", leaf(pa.string()), "@row"),
            ("int:-7", leaf(pa.int64()), -7), ("float:2.5", leaf(pa.float64()), 2.5), ("bool:true", leaf(pa.bool_()), True),
            ("null:string", leaf(pa.string()), None), ("null:int64", leaf(pa.int64()), None),
            ("null:list<int64>", Node("", "list", [leaf(pa.int64())]), None),
            ("null:struct<p: int64, q: string>", Node("", "struct", [leaf2("p", pa.int64()), leaf2("q", pa.string())]), None),
            ('json:{"p":{"q":"x"},"n":1}', Node("", "struct", [Node("p", "struct", [leaf2("q", pa.string())]), leaf2("n", pa.int64())]), {"p": {"q": "x"}, "n": 1}),
            ('json:["x","y"]', Node("", "list", [leaf(pa.string())]), ["x", "y"]),
            ('json:{"l":[{"a":1}]}', Node("", "struct", [Node("l", "list", [Node("", "struct", [leaf2("a", pa.int64())])])]), {"l": [{"a": 1}]}),
        ])

    def assign(self, path, start, seed):
        """One PATH=VALUE: its text, the column and the values."""
        rng = self.rng
        kind = rng.choice(["constant", "constant", "constant", "row", "uuid", "file", "path", "copy", "copy"])
        if kind == "row":
            return "@row", leaf(pa.int64()), lambda i, row: start + i
        if kind == "uuid":
            return "@uuid", leaf(pa.string()), lambda i, row: uuid(seed, start + i)
        if kind == "file":
            return "@file", leaf(pa.string()), lambda i, row: os.path.basename(self.path)
        if kind == "path":
            return "@path", leaf(pa.string()), lambda i, row: self.path
        if kind == "copy":
            free = [(p, n) for p, n in self.model.paths() if p[: len(path)] != path and path[: len(p)] != p and not any(q[: len(p)] == p or p[: len(q)] == q for q in self.put)]
            if free:
                p, n = rng.choice(free)
                return "@copy:" + text(p), n.clone(""), lambda i, row: copied(self.model.get(row, p))
        value, node, v = self.constant()
        return value, node, lambda i, row: copied(v)

    def place(self):
        """Where to write: a new name in some struct, or in new structs."""
        rng, structs = self.rng, [()] + [p for p, n in self.model.paths() if n.kind == "struct"]
        parent = rng.choice(structs)
        have = {k.name.lower() for k in self.model.find(parent).kids}
        names = [n for n in ["agent_name", "new", "z.z", "need", "n1", "n2", "n3"] if n not in have]
        path = parent + (rng.choice(names),)
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            path += (rng.choice(["in", "on"]),)
        return path

    def add(self):
        rng, model = self.rng, self.model
        start, seed = rng.choice([0, 0, 5, 10**6]), rng.choice([0, 1, 99])
        self.put, after, placed = [], None, None
        if rng.random() < 0.4:
            after, _ = rng.choice(model.paths())
            placed = after[-1]
        beside = False
        for _ in range(rng.choice([1, 1, 2, 3])):
            path, node = self.place(), None
            there = [(p, n) for p, n in model.paths() if not any(q[: len(p)] == p or p[: len(q)] == q for q in self.put)]
            if self.kind == "replace" and there and rng.random() < 0.8:
                path, _ = rng.choice(there)
            elif self.kind == "fill" and rng.random() < 0.7:
                fits = [(p, n) for p, n in there if n.kind == "leaf" and n.nullable and n.type in (pa.string(), pa.large_string(), pa.int64(), pa.float64(), pa.bool_())]
                if fits:
                    path, old = rng.choice(fits)
                    value, v = {"i": ("int:42", 42), "d": ("float:0.5", 0.5), "b": ("bool:false", False)}.get(str(old.type)[0], ("filled", "filled"))
                    node = leaf(old.type)
            if any(q[: len(path)] == path or path[: len(q)] == q for q in self.put) or self.blocked(path):
                continue
            if node is None:
                value, node, of = self.assign(path, start, seed)
            else:
                of = lambda i, row, v=v: v
            here = None
            if after is not None and path[:-1] == after[:-1]:
                if model.find(path) is not None:
                    continue  # it stays where it is
                here, placed, beside = placed, path[-1], True
            values = [of(i, row) for i, row in enumerate(model.rows)]
            self.put.append(path)
            model.put(path, node, lambda i, row: values[i], {"add": "add"}.get(self.kind, self.kind), here)
            self.args.append(f"{text(path)}={value}")
        if not self.args:
            raise Skip("nothing to add")
        after = after if beside else None
        self.args = ["add", *self.args]
        self.flags = [f for f, is_ in (("--index-start=%d" % start, start), ("--seed=%d" % seed, seed), ("--replace", self.kind == "replace"), ("--fill", self.kind == "fill"), ("--after=" + text(after or ()), after)) if is_]

    def blocked(self, path):
        """Whether a column that is no struct stands in the way."""
        at = self.model.root
        for step in path[:-1]:
            at = next((k for k in at.kids if k.name == step), None)
            if at is None:
                return False
            if at.kind != "struct":
                return True
        return False

    def drop(self):
        chosen = []
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            can = [p for p, n in self.model.paths(lists=True) if len(self.model.find(p[:-1]).kids) > 1]
            if can:
                p = self.rng.choice(can)
                if any(p[: len(q)] == q or q[: len(p)] == p for q in chosen):
                    continue
                chosen.append(p)
                self.model.drop(p)
        if not chosen:
            raise Skip("nothing to drop")
        self.args, self.flags = ["drop", ",".join(text(p) for p in chosen)], []

    def rename(self):
        pairs, old, new = [], set(), set()
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            p, _ = self.rng.choice(self.model.paths(lists=True))
            name = self.rng.choice(["renamed", "n.1", "index", "ß", "other"])
            if name.lower() in {k.name.lower() for k in self.model.find(p[:-1]).kids}:
                continue
            pairs.append(f"{text(p)}={text(p[:-1] + (name,))}")
            old.add(p)
            self.circular = self.circular or p[:-1] + (name,) in old or p in new
            new.add(p[:-1] + (name,))
            self.model.rename(p, name)
        if not pairs:
            raise Skip("nothing to rename")
        self.args, self.flags = ["rename", ",".join(pairs)], []

    def select(self):
        every = self.model.paths(lists=True)
        chosen = []
        for p, _ in self.rng.sample(every, min(len(every), self.rng.choice([1, 2, 3]))):
            if not any(p[: len(q)] == q or q[: len(p)] == p for q in chosen):
                chosen.append(p)
        for p, _ in every:
            if not any(p[: len(q)] == q or q[: len(p)] == p for q in chosen) and self.model.find(p) is not None:
                self.model.drop(p)
        self.args, self.flags = ["select", ",".join(text(p) for p in chosen)], []

    def reshard(self):
        n = len(self.model.rows)
        how = self.rng.choice([["--shards", self.rng.randint(1, min(n, 5))], ["--shard-rows", self.rng.randint(max(1, n // 7), n + 3)], ["--shard-size", self.rng.choice(["2kB", "10kB", "1MB"])]])
        self.args, self.flags = ["reshard"], [str(x) for x in how]


def empty(struct):
    """A struct of nulls; one that may not be null within it is such a struct too."""
    return {k.name: empty(k) if k.kind == "struct" and not k.nullable else None for k in struct.kids}


def leaf2(name, t):
    return Node(name, "leaf", type=t)


def copied(v):
    if isinstance(v, dict):
        return {k: copied(x) for k, x in v.items()}
    return [copied(x) for x in v] if isinstance(v, list) else v


class Skip(Exception):
    pass


# --- comparing ----------------------------------------------------------------------------------------------------------


def norm(v):
    """A value as all readers give it: maps as lists of pairs, signed zero kept, arrays as lists."""
    if isinstance(v, dict):
        if set(v) == {"key", "value"}:
            return ("kv", norm(v["key"]), norm(v["value"]))
        return {k: norm(x) for k, x in v.items()}
    if isinstance(v, tuple):
        return ("kv", *map(norm, v))
    if isinstance(v, list):
        return [norm(x) for x in v]
    if isinstance(v, float):
        return repr(v)
    if isinstance(v, datetime.datetime):
        return v.replace(tzinfo=None)
    return v


def first_difference(got, want):
    if len(got) != len(want):
        return f"{len(got)} rows, {len(want)} wanted"
    for i, (a, b) in enumerate(zip(got, want)):
        a, b = norm(a), norm(b)
        if a != b:
            names = [k for k in b if k not in a or a[k] != b[k]] + [k for k in a if k not in b]
            return f"row {i}: {names[0]!r}: {str(a.get(names[0], 'missing'))[:200]}, wanted {str(b.get(names[0], 'missing'))[:200]}"
    return None


def second(reader, files):
    if reader == "Polars":
        return pl.read_parquet(files, hive_partitioning=False, glob=False).to_arrow().to_pylist()
    con = duckdb.connect()
    con.execute("SET threads=1")
    rows = con.read_parquet(files).to_arrow_table().to_pylist()
    con.close()
    return rows


def physical(path):
    """For each row group, each column chunk's bytes, in leaf order."""
    buf, foot = footer.read(path)
    return [[hashlib.sha256(footer.chunk_bytes(buf, c)).digest() for c in g[1]] for g in foot.get(4, []) if g[3] > 0]


def kept_bytes(source, out, model):
    """Chunks that the edit does not concern are the source's, byte for byte."""
    a, b = physical(source), physical(out)
    if all(x.src is None for x in model.root.leaves()):
        return None
    if len(a) != len(b):
        return f"{len(b)} row groups, {len(a)} in the source"
    leaves = [x for x in model.root.leaves()]
    for n, (g, h) in enumerate(zip(a, b)):
        if len(h) != len(leaves):
            return f"{len(h)} leaves, {len(leaves)} wanted"
        for i, x in enumerate(leaves):
            if x.src is not None and g[x.src] != h[i]:
                return f"row group {n}: leaf {i} ({x.name}) is not the source's bytes"
    return None


def types(out, source, model):
    got = pq.read_schema(out)
    want = [(k.name, k.spelling()) for k in model.root.kids]
    have = [(f.name, spell(f.type)) for f in got]
    if have != want:
        return f"columns {have}, wanted {want}"
    was = {f.name: f for f in source}
    for k in model.root.kids:
        if k.name in was and k.leaves() and all(x.src is not None for x in k.leaves()) and spell(was[k.name].type) == k.spelling():
            if got.field(k.name).type != was[k.name].type:
                return f"{k.name} is {got.field(k.name).type}, was {was[k.name].type}"
    return None


class Case:
    def __init__(self, bin, number, seed, work):
        self.bin, self.number, self.work = bin, number, work
        self.rng = random.Random(seed * 1_000_003 + number)
        self.writer = WRITERS[number % SHARE]
        self.kind = EDITS[number // SHARE % len(EDITS)]
        self.tally = collections.Counter({self.writer: 1, self.kind: 1})

    def run(self):
        """What is wrong, or None."""
        rng = self.rng
        rows = rng.choice([1, 2, 3, 10, 10, 40, 40, 150, 600])
        os.makedirs(os.path.join(self.work, "in"))
        whole = Gen(rng, self.writer).table(rows)
        cuts = sorted(rng.sample(range(1, rows), min(rows - 1, rng.choice([0, 1, 2])))) if self.kind == "reshard" else []
        sources = []
        for n, (a, b) in enumerate(zip([0] + cuts, cuts + [rows])):
            path = os.path.join(self.work, "in", f"train-{n}.parquet")
            write(rng, self.writer, whole.take(list(range(a, b))), path)
            sources.append(path)
        try:
            tables = [pq.read_table(p) for p in sources]
        except (OSError, pa.ArrowInvalid) as e:
            raise Skip(f"pyarrow cannot read what {self.writer} wrote") from e
        model = Model(pa.concat_tables([t.replace_schema_metadata(None) for t in tables], promote_options="permissive") if len(tables) > 1 else tables[0])
        if any(pa.types.is_struct(f.type) and tables[0][f.name].null_count for f in tables[0].schema):
            self.tally["null structs"] += 1
        edit = Edit(rng, model, self.kind, sources[0])
        out = self.edit(edit, sources)
        if isinstance(out, str):
            return out
        return self.judge(edit, model, sources, tables[0].schema, out)

    def edit(self, edit, sources):
        """Runs the tool; the files that come out, or what is wrong."""
        dest = os.path.join(self.work, "out")
        where = ["-o", dest]
        files = sources
        if self.kind != "reshard" and self.rng.random() < 0.2:
            files = [os.path.join(self.work, "in", "place.parquet")]
            if not any("@file" in a or "@path" in a for a in edit.args) and not edit.circular:
                shutil.copy(sources[0], files[0])
                where, self.tally["in place"] = ["--in-place"], 1
            else:
                files = sources
        self.command = [*edit.args, *files, *where, *edit.flags, "--json", "-j", "1"]
        done = subprocess.run([self.bin, *self.command], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        if done.returncode == 2 and self.kind == "fill" and "takes no null" in done.stderr + done.stdout or "take no null" in done.stderr:
            raise Skip("a struct with a required field cannot be filled")
        if done.returncode:
            return f"exit {done.returncode}: {done.stderr.strip()[-600:]}"
        self.said = json.loads(done.stdout)
        if where[0] == "--in-place":
            return files
        return [os.path.join(dest, n) for n in sorted(os.listdir(dest))]

    def judge(self, edit, model, sources, was, out):
        got = [pq.read_table(p, page_checksum_verification=True) for p in out]
        rows = [r for t in got for r in t.to_pylist()]
        bad = first_difference(rows, model.rows)
        if bad:
            return f"pyarrow: {bad}"
        reader = self.rng.choice(["DuckDB", "Polars"])
        try:
            bad = first_difference(second(reader, out), model.rows)
        except Exception as e:
            bad = f"{type(e).__name__}: {str(e)[:300]}"
        if bad and self.reads(reader, sources):
            return f"{reader}: {bad}"
        self.tally[reader if not bad else reader + " cannot read such a source"] += 1
        for path in out:
            wrong = footer.check(path, None, crc=False, index=False) + check_values(path)
            if wrong and not any(footer.check(p, None, crc=False, index=False) + check_values(p) for p in sources):
                return "; ".join(wrong[:3])
            bad = types(path, was, model)
            if bad:
                return bad
        if self.kind != "reshard":
            return kept_bytes(sources[0], out[0], model)
        if not self.said["reencoded"]:
            have = {h for p in sources for g in physical(p) for h in g}
            if any(h not in have for p in out for g in physical(p) for h in g):
                return "a chunk is not a source's bytes, and nothing was said of it"
            self.tally["resharded undecoded"] += 1
        return None

    def reads(self, reader, sources):
        """Whether the reader reads the source itself, and a file by pyarrow of the same rows, as pyarrow does."""
        try:
            want = [r for p in sources for r in pq.read_table(p).to_pylist()]
            return first_difference(second(reader, sources), want) is None
        except Exception:
            return False


def check_values(path):
    """footer.check_values, but for what it does not know: maps and fixed sizes."""
    try:
        return footer.check_values(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, KeyError, TypeError):
        return []


def one(job):
    bin, number, seed, keep = job
    work = tempfile.mkdtemp(prefix=f"rlprep-edit-{number}-")
    case, skipped = Case(bin, number, seed, work), None
    try:
        bad = case.run()
    except Skip as e:
        bad, skipped = None, str(e)
    except Exception as e:
        frame = traceback.extract_tb(e.__traceback__)[-1]
        bad = f"{type(e).__name__}: {str(e)[:300]} ({os.path.basename(frame.filename)}:{frame.lineno})"
    if bad and keep:
        print(f"kept: {work}", flush=True)
    else:
        shutil.rmtree(work, ignore_errors=True)
    tally = dict(case.tally) if not skipped else {"skipped: " + skipped: 1}
    return number, bad, tally, case.writer, getattr(case, "command", [])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tool")
    ap.add_argument("--cases", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--case", type=int, help="only this one; its files are kept where it fails")
    ap.add_argument("--jobs", type=int, default=os.cpu_count())
    ap.add_argument("--keep", action="store_true", help="keep the files of cases that fail")
    args = ap.parse_args()
    began = datetime.datetime.now()
    tool = os.path.abspath(args.tool)
    numbers = [args.case] if args.case is not None else range(args.cases)
    tally, failed = collections.Counter(), 0
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for number, bad, counts, writer, command in pool.map(one, [(tool, n, args.seed, args.keep or args.case is not None) for n in numbers], chunksize=4):
            tally.update(counts)
            if bad:
                failed += 1
                if failed <= 20:
                    print(f"FAIL case {number} of seed {args.seed} ({writer}): {bad}\n     rlprep {' '.join(command)}", flush=True)
    readers.close()
    print(", ".join(f"{k}: {v}" for k, v in sorted(tally.items())))
    print(f"{len(numbers)} cases of seed {args.seed} in {(datetime.datetime.now() - began).seconds} s: {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
