"""Runs rlprep over the gsm8k recipes in many forms and has every output read by five readers; see run.sh.

Usage: conform.py RLPREP [--keep] [--only WORD]. Prints a line a failure and `N passed, N failed, N skipped` at the end.
"""
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq

import footer
import readers
import reference
import sources

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SPLITS = ("train", "test")
ADDED = "agent_name"


class Score:
    def __init__(self, only=""):
        self.passed = self.failed = self.skipped = 0
        self.only = only

    def check(self, what, bad=None):
        """Counts one check; bad says what is wrong: a text, a list of lines, or a falsy value."""
        if not bad:
            self.passed += 1
            return True
        self.failed += 1
        lines = [bad] if isinstance(bad, str) else list(bad)
        for line in lines[:4]:
            print(f"FAIL {what}: {line}", flush=True)
        if len(lines) > 4:
            print(f"FAIL {what}: … {len(lines) - 4} more", flush=True)
        return False

    def attempt(self, what, f, *args):
        """Counts a check that f makes by what it returns or raises."""
        try:
            return self.check(what, f(*args))
        except Exception as e:  # a reader that gives up is what we look for
            frame = traceback.extract_tb(e.__traceback__)[-1]
            return self.check(what, f"{type(e).__name__}: {str(e)[:600]} ({os.path.basename(frame.filename)}:{frame.lineno})")

    def skip(self, what):
        self.skipped += 1
        print(f"SKIPPED {what}", flush=True)


class Tool:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def run(self, *args, cwd=None):
        return subprocess.run([self.path, *map(str, args)], capture_output=True, text=True, cwd=cwd, timeout=120, stdin=subprocess.DEVNULL)

    def must(self, score, what, *args, cwd=None):
        done = self.run(*args, cwd=cwd)
        return score.check(what, done.returncode and f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-800:]}")


def differs(got, want):
    """Where two tables of one schema differ first; nothing where they do not."""
    if got.equals(want):
        return None
    if got.num_rows != want.num_rows:
        return f"{got.num_rows} rows, {want.num_rows} wanted"
    for name in want.column_names:
        a, b = got[name], want[name]
        if not a.equals(b):
            i = next((i for i in range(len(b)) if a[i].as_py() != b[i].as_py()), None)
            return f"column {name}, row {i}: {str(a[i])[:200]!r}, not {str(b[i])[:200]!r}" if i is not None else f"column {name} differs"
    return "tables differ"


def read_all(score, label, files, want, pattern=None, only=readers.READERS):
    """Every reader, and a glob where the files are the shards of one."""
    for reader in only:
        score.attempt(f"{label}: {reader}", lambda: differs(readers.table_of(reader, files, want.schema), want))
    if pattern:
        score.attempt(f"{label}: HF datasets, glob", lambda: differs(readers.table_of("HF datasets, glob", pattern, want.schema), want))
        score.attempt(f"{label}: Polars, glob", lambda: differs(readers.plain(pl.read_parquet(pattern).to_arrow()).cast(want.schema), want))
        score.attempt(f"{label}: DuckDB, glob", lambda: differs(readers.plain(readers.by_duckdb(pattern).to_arrow_table()).cast(want.schema), want))
        score.attempt(f"{label}: pyarrow dataset", lambda: differs(readers.plain(pads.dataset(files).to_table()).cast(want.schema), want))


def same_types(path, want):
    """The Arrow types of verl's own files, field by field; only extra_info, and structs in it, may be required."""
    got = pq.read_schema(path)
    if got.names != want.names:
        return f"columns {got.names}, not {want.names}"
    bad = []
    for a, b in zip(got, want):
        same = nullable(a.type) == b.type if a.name == "extra_info" else a.type == b.type
        if not same:
            bad.append(f"{a.name} is {a.type}, not {b.type}")
        if not a.nullable and a.name != "extra_info":
            bad.append(f"{a.name} is required")
    return bad


def nullable(t):
    """A type with every field of its structs nullable."""
    if pa.types.is_struct(t):
        return pa.struct([pa.field(f.name, nullable(f.type)) for f in t])
    return t


def look_up(files, want):
    """Questions that statistics and the page index help to answer must get the same answer as a scan."""
    con, bad = duckdb.connect(), []
    for name in want.column_names:
        n = con.execute(f'SELECT count(*) FROM read_parquet(?) WHERE "{name}" IS NULL', [files]).fetchone()[0]
        if n != want[name].null_count:
            bad.append(f"DuckDB: {n} nulls in {name}, not {want[name].null_count}")
        n = pl.scan_parquet(files).filter(pl.col(name).is_null()).collect().height
        if n != want[name].null_count:
            bad.append(f"Polars: {n} nulls in {name}, not {want[name].null_count}")
        if pa.types.is_string(want[name].type):
            value = pc.drop_null(want[name])[want.num_rows // 2].as_py()
            n = pc.sum(pc.equal(want[name], value)).as_py() or 0
            asked = {
                "DuckDB": con.execute(f'SELECT count(*) FROM read_parquet(?) WHERE "{name}" = ?', [files, value]).fetchone()[0],
                "Polars": pl.scan_parquet(files).filter(pl.col(name) == value).collect().height,
                "pyarrow": pads.dataset(files).count_rows(filter=pads.field(name) == value),
            }
            bad += [f"{who}: {k} rows with this {name}, not {n}" for who, k in asked.items() if k != n]
    if "extra_info" in want.column_names and pa.types.is_struct(want.schema.field("extra_info").type):
        info = want["extra_info"].combine_chunks()
        for i in (0, want.num_rows // 2, want.num_rows - 1):
            index, question = info[i]["index"].as_py(), info[i]["question"].as_py()
            got = con.execute("SELECT extra_info.question FROM read_parquet(?) WHERE extra_info.index = ?", [files, index]).fetchall()
            if got != [(question,)]:
                bad.append(f"DuckDB: index {index} gives {str(got)[:100]}")
            got = pads.dataset(files).to_table(filter=pads.field("extra_info", "question") == question)
            if got["extra_info"].combine_chunks().field("index").to_pylist() != [index]:
                bad.append(f"pyarrow: question {i} gives {got.num_rows} rows")
    return bad


def manifest(folder, rows):
    """manifest.json says what lies there, and nothing of the machine."""
    text = open(os.path.join(folder, "manifest.json"), encoding="utf-8").read()
    m = json.loads(text)
    names = sorted(n for n in os.listdir(folder) if n.endswith(".parquet"))
    lines = [f"{hashlib.sha256(open(os.path.join(folder, n), 'rb').read()).hexdigest()}  {n}" for n in names]
    bad = []
    if m.get("dataset_sha256") not in {hashlib.sha256(t.encode()).hexdigest() for t in ("\n".join(lines), "\n".join(lines) + "\n")}:
        bad.append("dataset_sha256 is not the hash of the `sha256  name` lines")
    for line in lines:
        if line.split()[0] not in text:
            bad.append(f"the sha256 of {line.split()[1]} is not there")
    for word in (os.path.dirname(folder), os.uname().nodename, os.path.expanduser("~") + "/"):
        if word and len(word) > 3 and word in text:
            bad.append(f"{word!r} stands in the manifest")
    if set(os.listdir(folder)) != set(names) | {"manifest.json"}:
        bad.append(f"the folder holds {sorted(os.listdir(folder))}")
    return bad


def hashes(path):
    """The sha256 of every column chunk of a file."""
    buf, foot = footer.read(path)
    return {hashlib.sha256(footer.chunk_bytes(buf, c)).digest() for g in foot[4] for c in g[1]}


class Suite:
    def __init__(self, tool, score, work, sample):
        self.tool, self.score, self.work, self.sample, self.count = tool, score, work, sample, 0
        self.want = {}

    def out(self):
        self.count += 1
        return os.path.join(self.work, f"out{self.count}")

    def table(self, data, recipe, split):
        key = data, recipe, split
        if key not in self.want:
            self.want[key] = reference.table(recipe, split, self.data[data][split]).combine_chunks()
        return self.want[key]

    def prepare(self):
        """The datasets, each as {split: problems}, and where their JSON Lines lie."""
        self.folder, self.data = {"sample": self.sample}, {}
        real = reference.real()
        if real:
            self.folder["gsm8k"] = real
        else:
            self.score.skip("the real GSM8K is not there (RLPREP_SHARED or ../shared): its ten golden hashes were NOT compared")
        for name, folder in self.folder.items():
            self.data[name] = {s: reference.problems(os.path.join(folder, s + ".jsonl")) for s in SPLITS}

    def reference(self):
        """What outputs are held to is itself held to verl's own rows."""
        if "gsm8k" in self.data:
            for (recipe, split), want in reference.GOLDEN.items():
                got = reference.sha256(reference.rows(recipe, split, self.data["gsm8k"][split]))
                self.score.check(f"reference {recipe} {split}", got != want and f"sha256 {got}")
        for recipe in reference.RECIPES:
            for split in SPLITS:
                for path in glob.glob(os.path.join(ROOT, "testdata", "recipes", recipe, f"{split}.want.jsonl")):
                    want = [json.loads(line) for line in open(path, encoding="utf-8")]
                    got = reference.rows(recipe, split, self.data["sample"][split])
                    self.score.check(f"reference {recipe} {split}, sample", [reference.line(r) for r in got] != [reference.line(r) for r in want] and "differs from verl's rows")

    def preprocess(self, data, recipe, label, source, *options, shards=1, codec="zstd", copied=(), only=readers.READERS, deep=True):
        """One run, looked at from all sides. copied: hashes of source chunks, which may be carried over as they are."""
        label = f"{recipe} {data} {label}"
        if self.score.only and self.score.only not in label:
            return None
        out = self.out()
        if not self.tool.must(self.score, f"{label}: run", "preprocess", recipe, "--source", source, "-o", out, *options):
            return None
        for split in SPLITS:
            want = self.table(data, recipe, split)
            names = [f"{split}.parquet"] if shards == 1 else [f"{split}-{i:05d}-of-{shards:05d}.parquet" for i in range(shards)]
            files = [os.path.join(out, n) for n in names]
            got = sorted(os.path.basename(p) for p in glob.glob(os.path.join(out, split + "*")))
            if not self.score.check(f"{label} {split}: files", got != names and f"{got}, not {names}"):
                continue
            pattern = os.path.join(out, f"{split}-*.parquet") if shards > 1 else None
            self.file_checks(f"{label} {split}", files, want, codec, copied)
            read_all(self.score, f"{label} {split}", files, want, pattern, only)
            if deep:
                self.score.attempt(f"{label} {split}: look-ups", look_up, files, want)
        self.score.attempt(f"{label}: manifest", manifest, out, None)
        return out

    def file_checks(self, label, files, want, codec, copied):
        counts = []
        for path in files:
            name = f"{label}: {os.path.basename(path)}"
            self.score.attempt(f"{name}: footer", footer_check, path, codec, copied)
            self.score.attempt(f"{name}: values", footer.check_values, path)
            self.score.attempt(f"{name}: types", same_types, path, want.schema)
            counts.append(pq.read_metadata(path).num_rows)
        if len(files) > 1:
            self.score.check(f"{label}: shard sizes", max(counts) - min(counts) > 1 and f"{counts}")

    def golden(self, recipe, out):
        """The rows as each reader gives them, to Python, hashed as verl's rows were."""
        for split in SPLITS:
            for reader in readers.READERS:
                f = lambda: reference.sha256(readers.rows_of(reader, [os.path.join(out, split + ".parquet")]))
                self.score.attempt(f"golden {recipe} {split}: {reader}", lambda: None if f() == reference.GOLDEN[recipe, split] else "another sha256")

    def forms(self):
        quick = ["pyarrow", "DuckDB"]
        for data, folder in self.folder.items():
            for recipe in reference.RECIPES:
                out = self.preprocess(data, recipe, "default", folder)
                if out and data == "gsm8k":
                    self.golden(recipe, out)
                if out:
                    self.tool.must(self.score, f"{recipe} {data}: verify", "verify", out)
                self.preprocess(data, recipe, "4 shards", folder, "--shards", 4, shards=4)
                only = readers.READERS if data == "sample" or recipe == "gsm8k_tool_agent_loop" else quick
                self.preprocess(data, recipe, "snappy", folder, "--compression", "snappy", codec="snappy", only=only)
                self.preprocess(data, recipe, "none", folder, "--compression", "none", codec="none", only=only)

    def workers(self):
        """The bytes do not depend on -j."""
        for data, folder in self.folder.items():
            seen = {}
            for j in (1, 2, 5):
                out = self.out()
                if self.tool.must(self.score, f"{data} -j {j}", "preprocess", "gsm8k_tool_agent_loop", "--source", folder, "-o", out, "-j", j, "--shards", 3):
                    seen[j] = {n: hashlib.sha256(open(os.path.join(out, n), "rb").read()).hexdigest() for n in sorted(os.listdir(out))}
            self.score.check(f"{data}: equal bytes for -j {list(seen)}", len({str(s) for s in seen.values()}) > 1 and "they differ")

    def sources(self):
        """Parquet as other writers store it; each recipe meets each writer on the sample, and they take turns on the real data."""
        for data, splits in self.data.items():
            for n, kind in enumerate(sources.PARQUET):
                folder = os.path.join(self.work, f"{data}-source{n}")
                sources.write(kind, splits, folder)
                copied = set().union(*(hashes(p) for p in glob.glob(os.path.join(folder, "*.parquet"))))
                turn = reference.RECIPES if data == "sample" else [reference.RECIPES[n % 5], "gsm8k_tool_agent_loop"]
                for recipe in dict.fromkeys(turn):
                    every = data == "sample" and recipe == turn[n % 5] or data == "gsm8k" and recipe == turn[0]
                    self.preprocess(data, recipe, f"from {kind}", folder, copied=copied, only=readers.READERS if every else ["pyarrow", "DuckDB"], deep=every)
            folder = sources.write_gz([os.path.join(self.folder[data], s + ".jsonl") for s in SPLITS], os.path.join(self.work, f"{data}-gz"))
            self.preprocess(data, "gsm8k", "from .jsonl.gz", folder)
            self.preprocess(data, "gsm8k", "from hub layout", self.hub(data))

    def hub(self, data):
        root = os.path.join(self.work, f"{data}-hub")
        os.makedirs(root)
        sources.write("pyarrow zstd, CRC, page index", self.data[data], os.path.join(root, "main"))
        return root

    def mixed(self):
        """Outputs of different forms, and verl's own file, in one list: verl wants one set of features."""
        for data, folder in self.folder.items():
            recipe = "gsm8k_tool_agent_loop"
            snappy = os.path.join(self.work, f"{data}-mixed")
            sources.write("pyarrow snappy", self.data[data], snappy)
            zstd = os.path.join(self.work, f"{data}-mixed-zstd")
            sources.write("pyarrow zstd, CRC, page index", self.data[data], zstd)
            files = []
            for n, args in enumerate([[folder], [snappy], [zstd], [zstd, "--compression", "snappy"]]):
                out = self.out()
                if self.tool.must(self.score, f"{data} mixed {n}", "preprocess", recipe, "--source", args[0], "-o", out, *args[1:]):
                    files.append(os.path.join(out, "test.parquet"))
            own = os.path.join(self.work, f"{data}-verl.parquet")
            want = self.table(data, recipe, "test")
            pq.write_table(want, own)
            for order in (files + [own], [own] + files):
                every = pa.concat_tables([want] * len(order)).combine_chunks()
                read_all(self.score, f"{data}: mixed list, {os.path.basename(order[0])} first", order, every)

    def add(self):
        """add agent_name=tool_agent: what others wrote, with one column more and nothing else touched."""
        for data in self.data:
            base = self.table(data, "gsm8k", "test")
            for kind, write in WRITERS.items():
                table = base
                if "nulls" in kind:
                    table = with_nulls(base)
                name = f"{re.sub('[^a-z0-9]+', '-', kind.lower())}.parquet"
                source = os.path.join(self.work, f"{data}-add", name)
                os.makedirs(os.path.dirname(source), exist_ok=True)
                write(table, source)
                self.add_one(f"add {data} {kind}", [source], [readers.plain(pq.read_table(source))])
            two = [os.path.join(self.work, f"{data}-add", n) for n in ("pyarrow-snappy.parquet", "polars.parquet")]
            self.add_one(f"add {data}, two files", two, [readers.plain(pq.read_table(p)) for p in two])

    def add_one(self, label, files, tables):
        if self.score.only and self.score.only not in label:
            return
        out = self.out()
        if not self.tool.must(self.score, f"{label}: run", "add", f"{ADDED}=tool_agent", *files, "-o", out):
            return
        for source, table in zip(files, tables):
            got = os.path.join(out, os.path.basename(source))
            if not self.score.check(f"{label}: file", not os.path.exists(got) and f"no {os.path.basename(got)} among {sorted(os.listdir(out))}"):
                continue
            want = table.append_column(ADDED, pa.array(["tool_agent"] * table.num_rows, pa.string()))
            copied = hashes(source)
            self.score.attempt(f"{label}: footer", footer_check, got, None, copied)
            self.score.attempt(f"{label}: values", footer.check_values, got)
            self.score.attempt(f"{label}: untouched", untouched, source, got)
            plain = pa.schema([pa.field(f.name, _plain_type(f.type)) for f in want.schema])
            read_all(self.score, label, [got], want.cast(plain))
            self.score.attempt(f"{label}: look-ups", look_up, [got], want.cast(plain))


def _plain_type(t):
    """Large and view types as their plain ones, so that readers can be compared."""
    if pa.types.is_struct(t):
        return pa.struct([pa.field(f.name, _plain_type(f.type)) for f in t])
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return pa.list_(pa.field("element", _plain_type(t.value_type)))
    return pa.string() if pa.types.is_large_string(t) or pa.types.is_string_view(t) else t


def footer_check(path, codec, copied):
    """footer.check, where a chunk that is a source's own need have neither checksum nor page index."""
    if not copied:
        return footer.check(path, codec)
    buf, foot = footer.read(path)
    bad = footer.check(path, codec, crc=False, index=False)
    for n, g in enumerate(foot[4]):
        for c in g[1]:
            if hashlib.sha256(footer.chunk_bytes(buf, c)).digest() not in copied:
                bad += [f"row group {n}, {footer.name(c[3])}: {b}" for b in footer.chunk(buf, c, g[3], codec, True, True)]
    return list(dict.fromkeys(bad))


def untouched(source, got):
    """Every chunk of the source is in the output, byte for byte, under the same path, with the same statistics."""
    bad = []
    a, fa = footer.read(source)
    b, fb = footer.read(got)
    if [g[3] for g in fa[4]] != [g[3] for g in fb[4]]:
        return "other row groups"
    for n, (g, h) in enumerate(zip(fa[4], fb[4])):
        there = {footer.name(c[3]): c for c in h[1]}
        for c in g[1]:
            name = footer.name(c[3])
            d = there.get(name)
            if d is None or footer.chunk_bytes(a, c) != footer.chunk_bytes(b, d):
                bad.append(f"row group {n}, {name}: not the source's bytes")
            elif c[3].get(12) != d[3].get(12):
                bad.append(f"row group {n}, {name}: statistics {d[3].get(12)}, were {c[3].get(12)}"[:300])
            elif c.get(4) and not d.get(4):
                bad.append(f"row group {n}, {name}: the page index is gone")
    kv = [{e[1]: e.get(2) for e in f.get(5, [])} for f in (fa, fb)]
    for key, value in kv[0].items():
        if key in (b"ARROW:schema", b"huggingface", b"pandas"):
            continue
        if kv[1].get(key) != value:
            bad.append(f"metadata {key!r} is not the source's")
    return bad


def with_nulls(table):
    """Every fifth ability, every seventh reward_model, and whole prompts missing."""
    for name, k in (("ability", 5), ("reward_model", 7), ("prompt", 11)):
        column = table[name].combine_chunks()
        keep = [None if i % k == 1 else v for i, v in enumerate(column.to_pylist())]
        table = table.set_column(table.column_names.index(name), table.schema.field(name), pa.array(keep, column.type))
    return table


def _with_metadata(table, path):
    table = table.replace_schema_metadata({"note": "kept", "empty": ""})
    pq.write_table(table, path, compression="zstd", write_page_index=True, write_page_checksum=True, row_group_size=500)


WRITERS = {
    "pyarrow snappy": lambda t, p: pq.write_table(t, p),
    "pyarrow zstd, CRC, page index, metadata": _with_metadata,
    "pyarrow, no arrow schema": lambda t, p: pq.write_table(t, p, store_schema=False, compression="zstd"),
    "pyarrow v2 pages": lambda t, p: pq.write_table(t, p, data_page_version="2.0", compression="zstd", data_page_size=8 << 10),
    "pyarrow row groups of 100, bloom filters": lambda t, p: pq.write_table(t, p, row_group_size=100, compression="zstd"),
    "pyarrow nulls": lambda t, p: pq.write_table(t, p, compression="zstd", row_group_size=400),
    "pyarrow nulls, no statistics": lambda t, p: pq.write_table(t, p, write_statistics=False),
    "pyarrow large strings": lambda t, p: pq.write_table(_large(t), p),
    "HF datasets": lambda t, p: __import__("datasets").Dataset(t).to_parquet(p),
    "HF datasets, nulls": lambda t, p: __import__("datasets").Dataset(t).to_parquet(p),
    "Polars": lambda t, p: pl.from_arrow(t).write_parquet(p, compression="zstd"),
    "Polars, nulls": lambda t, p: pl.from_arrow(t).write_parquet(p, compression="snappy", row_group_size=300),
    "DuckDB": lambda t, p: _duckdb(t, p),
    "DuckDB, nulls": lambda t, p: _duckdb(t, p),
    "pandas": lambda t, p: t.to_pandas().to_parquet(p),
    "pandas, nulls": lambda t, p: t.to_pandas().to_parquet(p),
}


def _large(table):
    return table.cast(pa.schema([pa.field(f.name, pa.large_string()) if pa.types.is_string(f.type) else f for f in table.schema]))


def _duckdb(table, path):
    con = duckdb.connect()
    con.register("t", table)
    con.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION zstd)")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tool")
    ap.add_argument("--keep", action="store_true", help="leave the outputs and say where they are")
    ap.add_argument("--only", default="", help="run what has this word in its label")
    ap.add_argument("--sample", default=os.path.join(ROOT, "testdata", "sample"), help="the small dataset, train.jsonl and test.jsonl")
    args = ap.parse_args()
    work = tempfile.mkdtemp(prefix="rlprep-conformance-")
    score = Score(args.only)
    tool = args.tool
    if tool == "stand-in":
        import standin

        tool = standin.Tool()
    else:
        tool = Tool(tool)
    suite = Suite(tool, score, work, args.sample)
    began = time.time()
    suite.prepare()
    for part in (suite.reference, suite.forms, suite.workers, suite.sources, suite.mixed, suite.add):
        start = time.time()
        part()
        print(f"{part.__name__}: {time.time() - start:.1f} s", file=sys.stderr)
    readers.close()
    if args.keep:
        print(f"outputs: {work}")
    else:
        shutil.rmtree(work)
    print(f"conformance took {time.time() - began:.0f} s")
    print(f"{score.passed} passed, {score.failed} failed, {score.skipped} skipped")
    sys.exit(1 if score.failed else 0)


if __name__ == "__main__":
    main()
