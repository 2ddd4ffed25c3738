"""Benchmarks, side by side in one run: run.py [--quick] [--pairs N] [--only PART,…] [--large] [--memory] [--write]
(sh testdata/bench/run.sh makes what it needs).

Every job is done by rlprep and by another tool in turn, pair by pair, on two threads. A figure counts only if the output,
read back in the same run, holds the rows wanted. Wall seconds of DuckDB, Polars, pyarrow and HF datasets are those of their
statement alone, without Python's start; ours and cp's are the whole process, ours with checks, fsync and manifest. Every
writer is followed by a sync of its file. Memory is the peak that the kernel reports for the process. The table goes to
stdout; --write puts it into docs/benchmarks.md.
"""
import argparse
import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys

from measure import BENCH, CP, MIB, OUT, ROOT, SHARED, Bench, fastest, footer, median, peak, write

SCRIPT = os.path.join(SHARED, "data", "verl-scripts", "gsm8k.py")
PEERS = {"DuckDB COPY": "duckdb", "Polars sink": "polars", "pyarrow": "pyarrow"}
RAW = {"rg7473": "row groups of 7,473", "rg122880": "row groups of 122,880", "rgall": "one row group"}
VERL = {"verl": "row groups of 122,880", "verlall": "one row group", "verl1000": "row groups of 1,000"}
ADD = ["add", "agent_name=tool_agent"]
LARGE = 18  # copies of the rows in the large file, about 4.3 GB
SOURCES = {"train.jsonl": (96, 0, "JSON Lines"), "rg122880.parquet": (246, 122880, RAW["rg122880"]), "rg7473.parquet": (246, 7473, RAW["rg7473"])}
# of the part memory: copies of the rows in 400 MB, rows a row group, title


def peers(b, job, source, *more):
    """The three other tools' sides of a job."""
    return [(t, b.job(f"{p}_{job}", source, os.path.join(OUT, f"{p}.parquet"), *more), f"{p}.parquet") for t, p in PEERS.items()]


def preprocess(b):
    """Raw GSM8K to verl's rows, against the three other tools and verl's own script; peak memory by layout."""
    want = b.wanted(b.path("verl", "train.parquet"))
    peaks = {}
    for kind, layout in RAW.items():
        source, title = b.path(kind, "train.parquet"), f"gsm8k → verl rows, {layout}"
        runs, ratios = b.pairs(title, [gsm8k(b, source), *peers(b, "gsm8k", source)], want)
        b.bar(f"{title}: wall, rlprep / fastest of three", fastest(ratios, PEERS), 1 / 1.6)
        b.bar(f"{title}: bytes, rlprep / pyarrow", size_ratio(runs["rlprep"], runs["pyarrow"]), 1)
        b.bar(f"{title}: peak memory", peak(runs["rlprep"]), 512 if kind == "rgall" else 256, " MiB")
        peaks[kind] = [r.rss for r in runs["rlprep"] if r]
        if kind == "rg7473":
            own_script(b, title, want, [r.wall for r in runs["rlprep"] if r])
    steady(b, peaks)


def gsm8k(b, source):
    out = os.path.join(OUT, "gsm8k")
    return "rlprep", [b.args.rlprep, "preprocess", "gsm8k", "--source", source, "--split", "train", "-o", out, "-j", "2"], "gsm8k/train.parquet"


def size_ratio(ours, theirs):
    sizes = [next((r.bytes for r in runs if r), None) for runs in (ours, theirs)]
    return sizes[0] / sizes[1] if all(sizes) else None


def own_script(b, title, want, ours):
    if not os.path.exists(SCRIPT):
        print("SKIPPED verl's own script: not there (RLPREP_SHARED or ../shared)", file=sys.stderr)
        return
    argv = [b.python, SCRIPT, "--local_dataset_path", b.path("hub"), "--local_save_dir", os.path.join(OUT, "verl")]
    run = b.once(f"{title}, verl's own script", argv, "verl/train.parquet", want)
    ratio = [w / run.wall for w in ours] if run else []
    b.row(title, "verl's own script, HF datasets (once)", [run] if run else [], ratio)
    b.bar(f"{title}: wall, rlprep / verl's own script", median(ratio), 1 / 16)


def steady(b, large):
    """Peak memory does not grow with the file: ×100 against ×10."""
    small = 1 if b.args.quick else 10
    for kind in ("rg7473", "rg122880"):
        want = b.wanted(b.path("verl", "train.parquet", copies=small))
        title = f"gsm8k → verl rows, {RAW[kind]}, ×{small}"
        runs, _ = b.pairs(title, [gsm8k(b, b.path(kind, "train.parquet", copies=small))], want, count=3)
        b.bar(f"{title}: peak memory", peak(runs["rlprep"]), 256, " MiB")
        less = [r.rss for r in runs["rlprep"] if r]
        ratio = statistics.median(large[kind]) / statistics.median(less) if large[kind] and less else None
        if kind == "rg7473":  # ×10 is a single row group of the other size, which keeps one thread busy: nothing to compare with
            b.bar(f"peak memory ×{b.copies} / ×{small}, {RAW[kind]}", ratio, 1.2)


def edit(b, source, name, argv, layout, limit, known="", count=None):
    """One edit against cp of the same file. known: what the rows are held to, where it is not the edit of that name."""
    title = f"{name}, {layout}, {os.path.getsize(source) / 1e6:.0f} MB"
    ours = "rlprep", [b.args.rlprep, *argv, source, "-o", os.path.join(OUT, "out")], "out/*.parquet"
    want = b.wanted(source, known or name.split()[0])
    runs, ratios = b.pairs(title, [ours, b.copying(source)], want, count)
    b.bar(f"{title}: wall, rlprep / cp", median(ratios[CP]), limit)
    b.bar(f"{title}: peak memory", peak(runs["rlprep"]), 64 + 6 * footer(source) / MIB, " MiB")


def columns(b):
    """Edits that decode nothing, or next to nothing, against cp."""
    for kind, layout in VERL.items():
        source, limit = b.path(kind, "train.parquet"), 2.5 if kind == "verl1000" else 1.3
        edit(b, source, "add agent_name", ADD, layout, limit)
        edit(b, source, "drop ability", ["drop", "ability"], layout, limit)
        edit(b, source, "rename ability", ["rename", "ability=subject"], layout, limit)
        edit(b, source, "select three of five columns", ["select", "data_source,prompt,reward_model"], layout, limit)
    for kind, shards in (("verl", 3), ("verl1000", 8)):
        n = 1 if b.args.quick else shards
        edit(b, b.path(kind, "train.parquet"), f"reshard into {n}", ["reshard", "--shards", str(n)], VERL[kind], 1.6, known="none")
    index = ["add", "extra_info.index=@row"]
    edit(b, b.path("bare", "train.parquet"), "add extra_info.index", index, VERL["verl"], 2.5, known="index")
    edit(b, b.path("barenull", "train.parquet"), "add extra_info.index, extra_info null in some rows", index, VERL["verl"], 5, known="index")


def engines(b):
    """The same edits against the tools that decode."""
    source = b.path("verl", "train.parquet")
    for name, argv in (("add agent_name", ADD), ("drop ability", ["drop", "ability"]), ("rename ability", ["rename", "ability=subject"])):
        verb = name.split()[0]
        title = f"{name}, decoding tools"
        ours = "rlprep", [b.args.rlprep, *argv, source, "-o", os.path.join(OUT, "out")], "out/train.parquet"
        want = b.wanted(source, verb)
        runs, ratios = b.pairs(title, [ours, *peers(b, "edit", source, verb)], want, None if verb == "add" else min(3, b.args.pairs))
        b.bar(f"{title}: wall, rlprep / fastest of three", fastest(ratios, PEERS), 1 / 9)
        if verb != "add":
            continue
        hf = b.once(f"{title}, HF datasets", b.job("hf_add", source, os.path.join(OUT, "hf.parquet")), "hf.parquet", want)
        ratio = [r.wall / hf.wall for r in runs["rlprep"] if r] if hf else []
        b.row(title, "HF datasets map, to_parquet (once)", [hf] if hf else [], ratio)
        b.bar(f"{title}: wall, rlprep / HF datasets", median(ratio), 1 / 80)


def pipelines(b):
    """verl's mapping of GSM8K as a pipeline file and as a map function in Starlark, against HF datasets' map of it, in turn."""
    source, hf = b.path("rg7473", "train.parquet"), "HF datasets map, to_parquet"
    title = "gsm8k → verl rows, by a pipeline file"

    def ours(command, name):
        argv = [b.args.rlprep, command, os.path.join(ROOT, "testdata", name), "--source", source, "--split", "train", "-j", "2"]
        return [*argv, "-o", os.path.join(OUT, "own")]

    run, star = ("rlprep run", ours("run", "pipelines/gsm8k.yaml"), "own/train.parquet"), ("rlprep map", ours("map", "maps/gsm8k.star"), "own/train.parquet")
    want = b.wanted(b.path("verl", "train.parquet"))
    runs, _ = b.pairs(title, [run, star, (hf, b.job("hf_map", source, os.path.join(OUT, "hf.parquet")), "hf.parquet")], want, min(3, b.args.pairs))
    for tool, limit in (("rlprep run", 1 / 8), ("rlprep map", 1 / 4)):
        pair = [x.wall / y.wall for x, y in zip(runs[tool], runs[hf]) if x and y]
        what = "by a pipeline file" if tool == "rlprep run" else "by a map function in Starlark"
        if tool != "rlprep run":
            b.row(f"gsm8k → verl rows, {what}", f"{hf} (the same runs)", [r for r in runs[hf] if r], pair)
        b.bar(f"gsm8k → verl rows, {what}: wall, rlprep / HF datasets", median(pair), limit)
        b.bar(f"gsm8k → verl rows, {what}: peak memory", peak(runs[tool]), 512, " MiB")


def large(b):
    """add and reshard on a file of about 4 GB, which is made for it and removed."""
    source, folder = b.path("verl", "train.parquet"), os.path.join(BENCH, f"large-{os.getpid()}")
    need, free = 3 * LARGE * os.path.getsize(source), shutil.disk_usage(BENCH).free
    if free < need:
        print(f"SKIPPED the large file: {free / 1e9:.0f} GB are free, not {need / 1e9:.0f}", file=sys.stderr)
        return
    try:
        parts = os.path.join(folder, "parts")
        os.makedirs(parts)
        for k in range(LARGE):
            os.link(source, os.path.join(parts, f"train-{k:05d}-of-{LARGE:05d}.parquet"))
        made = os.path.join(folder, "whole")
        subprocess.run([b.args.rlprep, "reshard", parts, "--shards", "1", "-q", "-o", made], check=True)
        whole, pattern = os.path.join(made, "train-00000-of-00001.parquet"), os.path.join(parts, "*.parquet")
        if b.content(whole) != b.content(pattern):
            b.wrong += 1
            print("FAIL the large file: its rows are not those of its parts", file=sys.stderr)
            return
        edit(b, whole, "add agent_name", ADD, "row groups of 122,880", 1.3, count=min(3, b.args.pairs))
        edit(b, whole, f"reshard into {LARGE}", ["reshard", "--shards", str(LARGE)], VERL["verl"], 1.6, known="none", count=min(3, b.args.pairs))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def memory(b):
    """Peak memory of a source of 4 GB against that of one of 400 MB; both are made for it and removed, one form after the other."""
    folder, need, free = os.path.join(BENCH, f"memory-{os.getpid()}"), 0 if b.args.quick else 12e9, shutil.disk_usage(BENCH).free
    if free < need:
        print(f"SKIPPED the sources of 4 GB: {free / 1e9:.0f} GB are free, not {need / 1e9:.0f}", file=sys.stderr)
        return
    for name, (copies, rows, form) in SOURCES.items():
        peaks = []
        for times in (1, 10):
            source = os.path.join(folder, name)
            try:
                os.makedirs(folder)
                subprocess.run(b.job("raw", source, str((1 if b.args.quick else copies) * times), str(rows)), check=True)
                title = f"gsm8k → verl rows, {form}, source of {os.path.getsize(source) / 1e6:,.0f} MB"
                runs, _ = b.pairs(title, [gsm8k(b, source)], b.wanted(source, "gsm8k"), min(3 if times == 1 else 2, b.args.pairs))
            finally:
                b.hashes.pop((source, "gsm8k"), None)  # the next source has its name
                shutil.rmtree(folder, ignore_errors=True)
            peaks.append(median([r.rss for r in runs["rlprep"] if r]))
        b.bar(f"{title}: peak memory", peak(runs["rlprep"]), 512, " MiB")
        b.bar(f"peak memory of 4 GB / of 400 MB, {form}", peaks[1] / peaks[0] if all(peaks) else None, 1.2)


def lint(b):
    """Rules over a file with a null data_source and a null ground truth, against load_dataset of that file with an empty cache."""
    source = b.path("verlnull", "train.parquet")
    load = "datasets.load_dataset, empty cache"
    for name, select, limit in (
        ("all rules", [], 1),
        ("rules that counts and dictionaries answer", ["--select", "RL202,RL203,RL205,RL207,RL301,RL302,RL303,RL304"], 1 / 4),
    ):
        title = f"lint, {name}, {os.path.getsize(source) / 1e6:.0f} MB"
        out = f"jsonl={os.path.join(OUT, 'findings.jsonl')}"
        sides = [
            ("rlprep", [b.args.rlprep, "lint", "--no-cache", source, *select, "--output-format", out, "--exit-zero"], "findings.jsonl"),
            (load, b.job("hf_load", source, os.path.join(OUT, "cache")), None),
        ]
        runs, ratios = b.pairs(title, sides, lambda path: found(path, 7_000 * b.copies))
        b.bar(f"{title}: wall, rlprep / load_dataset", median(ratios[load]), limit)
        b.bar(f"{title}: peak memory", peak(runs["rlprep"]), 384, " MiB")


def found(path, row):
    """What is wrong with findings that should be the two nulls and no more."""
    with open(path, encoding="utf-8") as f:
        got = sorted((x["rule"], x["rows"]) for x in map(json.loads, f))
    want = [("RL202", [row]), ("RL207", [row + 1])]
    return "" if got == want else f"wrong findings: {got}, not {want}"


def download(b):
    """A file from a Hub on loopback into the Hub's cache, hashed on its way, against curl into sha256sum, which keeps nothing."""
    hub, copies = os.path.join(BENCH, f"hub-{os.getpid()}"), 1 if b.args.quick else 4
    served = os.path.join(hub, "o", "n", "train.parquet")
    os.makedirs(os.path.dirname(served))
    server = None
    try:
        with open(served, "wb") as f:
            for _ in range(copies):  # the last footer counts: the bytes before it are only weight
                with open(b.path("verl", "train.parquet"), "rb") as part:
                    shutil.copyfileobj(part, f)
        want = subprocess.run(["sha256sum", served], capture_output=True, text=True, check=True).stdout.split()[0]
        server = subprocess.Popen([os.path.join(BENCH, "serve"), hub], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        url = server.stdout.readline().strip()
        os.environ["HF_ENDPOINT"] = url
        title, curl = f"download, {os.path.getsize(served) / 1e6:.0f} MB", "curl, sha256sum"
        sides = [
            ("rlprep", ["env", "HF_HUB_OFFLINE=0", b.args.rlprep, "lint", "--no-cache", "--select", "RL001", "-q", "hf://datasets/o/n/train.parquet"], "hf/hub/*/blobs/*"),
            (curl, ["sh", "-c", f"curl -sSL {url}/datasets/o/n/resolve/main/train.parquet | sha256sum > {OUT}/sum"], "sum"),
        ]
        runs, ratios = b.pairs(title, sides, lambda pattern: hashed(pattern, want))
        b.bar(f"{title}: wall, rlprep / curl", median(ratios[curl]), 1 / 0.8)
        b.bar(f"{title}: peak memory", peak(runs["rlprep"]), 512, " MiB")
    finally:
        os.environ.pop("HF_ENDPOINT", None)
        if server:
            server.communicate()
        shutil.rmtree(hub, ignore_errors=True)


def hashed(pattern, want):
    """What is wrong with the one file of the pattern, which should have that sha256, or be sha256sum's word of it."""
    files = glob.glob(pattern)
    if len(files) != 1:
        return f"{len(files)} files, not one: {files}"
    if os.path.basename(files[0]) == "sum":
        with open(files[0]) as f:
            got = f.read().split()[0]
    else:
        got = subprocess.run(["sha256sum", files[0]], capture_output=True, text=True, check=True).stdout.split()[0]
    return "" if got == want else f"wrong bytes: {got}, not {want}"


def main():
    parts = {f.__name__: f for f in (preprocess, columns, engines, pipelines, large, memory, lint, download)}
    ap = argparse.ArgumentParser()
    ap.add_argument("--quick", action="store_true", help="×1, one pair, no bars: checks only that everything runs and gives the expected rows")
    ap.add_argument("--pairs", type=int, default=0, help="alternating pairs a job (default 9; --quick: 1)")
    ap.add_argument("--only", default="", help=f"one part, or several, separated by commas: {', '.join(parts)}")
    ap.add_argument("--large", action="store_true", help="also a file of 4 GB; needs 13 GB of disk for a while")
    ap.add_argument("--memory", action="store_true", help="also peak memory of sources of 4 GB; needs 12 GB of disk for a while, and half an hour")
    ap.add_argument("--write", action="store_true", help="write the table into docs/benchmarks.md")
    ap.add_argument("--rlprep", default=os.path.join(ROOT, "bin", "rlprep"))
    args = ap.parse_args()
    args.pairs = args.pairs or (1 if args.quick else 9)
    args.rlprep = os.path.abspath(args.rlprep)
    only = args.only.split(",") if args.only else [p for p in parts if p not in ("large", "memory") or getattr(args, p)]
    if unknown := [p for p in only if p not in parts]:
        ap.error(f"no such part: {', '.join(unknown)} (there are {', '.join(parts)})")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that large files are removed
    b = Bench(args)
    for part in only:
        parts[part](b)
    shutil.rmtree(OUT, ignore_errors=True)
    print(b.table(), end="")
    if args.write:
        write(b.table())
    missed = [] if args.quick else [bar for bar in b.bars if bar[3] != "met"]
    for bar in missed:
        print(f"FAIL bar: {bar[0]}: {bar[1]}, wanted {bar[2]}", file=sys.stderr)
    sys.exit(1 if b.wrong or missed else 0)


if __name__ == "__main__":
    main()
