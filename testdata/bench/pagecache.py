"""Does it pay to write past the page cache? pagecache.py --past BINARY [--pairs N] [--read-mbps N]

rlprep preprocess gsm8k of .bench/x100/rg7473, then the first datasets.load_dataset of the result in a new cache, by this tree and by BINARY in turn. BINARY
writes past the page cache: build it from the parent of the commit "shard: write through the page cache again". Both sides read their input from the cache. The output of each run is counted by
load_dataset. Seconds are wall seconds of whole processes; the ratio is taken in each pair.

--read-mbps N limits what load_dataset reads from the disk to N MB a second (cgroup v1 blkio, as root). Writes are not limited: version 1 of the
controller does not charge writes through the cache to the process, so a limit would hold for one side alone.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
BENCH = os.path.join(ROOT, ".bench")
SOURCE = os.path.join(BENCH, "x100", "rg7473", "train.parquet")
OUT = os.path.join(BENCH, "out", "pagecache")
GROUP = "/sys/fs/cgroup/blkio/rlprep-bench"
LOAD = """
import sys, datasets
datasets.disable_progress_bars()
print(len(datasets.load_dataset("parquet", data_files=sys.argv[1], split="train", cache_dir=sys.argv[2])))
"""


def build(name):
    path = os.path.join(BENCH, name)
    subprocess.run(["go", "build", "-trimpath", "-o", path, "./cmd/rlprep"], cwd=ROOT, check=True, env=dict(os.environ, CGO_ENABLED="0"))
    return path


def limit(mbps):
    """Makes the group of processes that read at most so fast, and returns how a process joins it."""
    os.makedirs(GROUP, exist_ok=True)
    dev = os.stat(BENCH).st_dev
    with open(os.path.join(GROUP, "blkio.throttle.read_bps_device"), "w") as f:
        f.write(f"{os.major(dev)}:{os.minor(dev)} {mbps * 1_000_000}")

    def join():
        with open(os.path.join(GROUP, "cgroup.procs"), "w") as f:
            f.write(str(os.getpid()))

    return join


def timed(argv, **more):
    start = time.perf_counter()
    out = subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more).stdout
    return time.perf_counter() - start, out


def side(binary, join):
    """Seconds of preprocess, and of the first load_dataset of what it wrote."""
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    with open(SOURCE, "rb") as f:
        while f.read(1 << 24):
            pass
    os.sync()
    made, _ = timed([binary, "preprocess", "gsm8k", "--source", SOURCE, "--split", "train", "-o", OUT + "/data", "-q"])
    env = dict(os.environ, HF_HUB_OFFLINE="1", HF_HOME=OUT + "/hf")
    loaded, rows = timed([sys.executable, "-c", LOAD, OUT + "/data/train.parquet", OUT + "/cache"], env=env, preexec_fn=join)
    if int(rows) != 747_300:
        sys.exit(f"load_dataset has {rows.strip()} rows, not 747,300")
    return made, loaded


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--past", required=True)
    args.add_argument("--pairs", type=int, default=5)
    args.add_argument("--read-mbps", type=int)
    args = args.parse_args()
    past = os.path.abspath(args.past)
    through = build("rlprep-through")
    join = limit(args.read_mbps) if args.read_mbps else None
    sides = {"past the page cache": past, "through the page cache": through}
    runs = {name: [] for name in sides}
    for i in range(args.pairs):
        for name in sorted(sides, reverse=i % 2 == 1):
            runs[name].append(side(sides[name], join))
    for name, seconds in runs.items():
        made, loaded = zip(*seconds)
        print(f"{name}: preprocess {statistics.median(made):.2f} s, load_dataset {statistics.median(loaded):.2f} s, both {statistics.median(map(sum, seconds)):.2f} s")
    ratios = [sum(a) / sum(b) for a, b in zip(*runs.values())]
    print(f"both, past / through: {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
    shutil.rmtree(OUT, ignore_errors=True)
    if args.read_mbps:
        os.rmdir(GROUP)


main()
