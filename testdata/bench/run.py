"""Benchmarks, side by side in one run: run.py [--quick] [--pairs N] [--only WORD] [--write] (sh testdata/bench/run.sh makes what it needs).

Every job is done by rlprep and by another tool in turn, pair by pair, on two threads. A figure counts only if the output,
read back in the same run, holds the rows wanted. Wall seconds of DuckDB and Polars are those of their statement alone,
without Python's start; ours are the whole process, with checks, fsync and manifest. Memory is the peak that the kernel
reports for the process. The table goes to stdout; --write puts it into docs/benchmarks.md.

This process itself imports nothing large: a child's peak memory begins at its parent's.
"""
import argparse
import glob
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
BENCH = os.path.join(ROOT, ".bench")
OUT = os.path.join(BENCH, "out")
SHARED = os.environ.get("RLPREP_SHARED") or os.path.abspath(os.path.join(ROOT, "..", "shared"))
SCRIPT = os.path.join(SHARED, "data", "verl-scripts", "gsm8k.py")
MIB = 1 << 20


def environment():
    env = dict(os.environ, GOMAXPROCS="2", POLARS_MAX_THREADS="2", OMP_NUM_THREADS="2", PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1")
    env["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
    env["PYTHONPATH"] = os.path.join(os.path.dirname(SCRIPT), "stub")
    env["HF_HOME"] = os.path.join(OUT, "hf")
    return env


class Run:
    """One process: wall and CPU seconds, peak MiB, and how much of the machine others used meanwhile."""

    def __init__(self, argv):
        os.sync()  # what was written before is not ours to wait for
        busy = machine()
        start = time.perf_counter()
        p = subprocess.Popen(pinned(argv), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment())
        self.output = p.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        self.wall = time.perf_counter() - start
        self.cpu = usage.ru_utime + usage.ru_stime
        self.rss = usage.ru_maxrss / 1024
        self.others = max(0.0, (machine() - busy - self.cpu) / self.wall / (os.cpu_count() or 1))
        self.status = p.returncode
        for line in self.output.splitlines():
            if line.startswith("seconds ") and argv[1].endswith("jobs.py"):
                self.wall = float(line.split()[1])


def machine():
    """Seconds of CPU that the machine has been busy."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, soft, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def pinned(argv):
    if (os.cpu_count() or 1) > 2 and shutil.which("taskset"):
        return ["taskset", "-c", "0,1", *argv]
    return argv


class Bench:
    def __init__(self, args):
        self.args, self.rows, self.bars, self.wrong, self.others = args, [], [], 0, 0.0
        self.hashes = {}
        self.python = sys.executable
        self.copies = 1 if args.quick else 100

    def path(self, *parts, copies=None):
        return os.path.join(BENCH, f"x{copies or self.copies}", *parts)

    def job(self, name, *argv):
        return [self.python, os.path.join(HERE, "jobs.py"), name, *argv]

    def content(self, path):
        done = subprocess.run(self.job("content", path), capture_output=True, text=True, env=environment())
        return done.stdout.strip() if done.returncode == 0 else f"unreadable: {done.stderr.strip()[-300:]}"

    def wanted(self, path):
        if path not in self.hashes:
            self.hashes[path] = self.content(path)
        return self.hashes[path]

    def once(self, what, argv, file=None, want=None, bare=False):
        """Runs a command into an empty OUT and reads its output back; None where it failed or its rows are wrong."""
        shutil.rmtree(OUT, ignore_errors=True)
        os.makedirs(OUT)
        run = Run(argv)
        said = "" if run.status == 0 else f"exit {run.status}: {run.output.strip()[-400:]}"
        if not said and file:
            got = self.content(os.path.join(OUT, file))
            said = "" if got == want else f"wrong rows: {got[-300:]}, not {want[-300:]}"
        self.others = max(self.others, run.others)
        print(f"{what}: {run.wall:.2f} s, {run.rss:.0f} MiB", file=sys.stderr, flush=True)
        if said:
            self.wrong += 1
            print(f"FAIL {what}: {said}", file=sys.stderr)
            return None
        return run

    def pairs(self, title, sides, want, count=None):
        """Runs sides in turn. sides: [(tool, argv, output file below OUT)], ours first. Rows of the table, ratios to each."""
        runs = {tool: [] for tool, _, _ in sides}
        for n in range(count or self.args.pairs):
            for tool, argv, file in sides if n % 2 == 0 else sides[::-1]:
                run = self.once(f"{title}, {tool}", argv, file, want)
                runs[tool].append(run)
        ours = sides[0][0]
        ratios = {}
        for tool, _, _ in sides:
            good = [r for r in runs[tool] if r]
            pair = [a.wall / b.wall for a, b in zip(runs[ours], runs[tool]) if a and b]
            ratios[tool] = pair
            self.row(title, tool, good, pair if tool != ours else None)
        return runs, ratios

    def row(self, title, tool, runs, ratio):
        if not runs:
            self.rows.append((title, tool, "failed", "", "", ""))
            return
        wall = [r.wall for r in runs]
        self.rows.append((
            title,
            tool,
            f"{spread(wall)} s",
            f"{statistics.median(r.cpu for r in runs):.2f} s",
            f"{max(r.rss for r in runs):.0f} MiB",
            f"{spread(ratio)}" if ratio else "",
        ))

    def bar(self, what, value, limit, unit=""):
        met = value is not None and value <= limit
        self.bars.append((what, "none" if value is None else f"{value:.2f}{unit}", f"≤ {limit:g}{unit}", "met" if met else "NOT met"))

    def selected(self, name):
        return not self.args.only or self.args.only in name

    def preprocess(self):
        """Raw GSM8K to verl's rows, against DuckDB's COPY and verl's own script."""
        want = self.wanted(self.path("verl", "train.parquet"))
        memory = {}
        for rows in ("7473", "122880"):
            source = self.path(f"rg{rows}", "train.parquet")
            out = os.path.join(OUT, "gsm8k")
            ours = [self.args.rlprep, "preprocess", "gsm8k", "--source", source, "--split", "train", "-o", out, "-j", "2"]
            sides = [
                ("rlprep", ours, "gsm8k/train.parquet"),
                ("DuckDB COPY", self.job("duckdb_gsm8k", source, os.path.join(OUT, "duckdb.parquet")), "duckdb.parquet"),
            ]
            title = f"gsm8k → verl rows, row groups of {int(rows):,}"
            runs, ratios = self.pairs(title, sides, want)
            memory[rows] = [r.rss for r in runs["rlprep"] if r]
            self.bar(f"{title}: wall, rlprep / DuckDB", median(ratios["DuckDB COPY"]), 1)
            self.bar(f"{title}: peak memory", max(memory[rows], default=None), 512, " MiB")
            if rows == "7473":
                self.own_script(title, want, [r.wall for r in runs["rlprep"] if r])
        return memory

    def own_script(self, title, want, ours):
        if not os.path.exists(SCRIPT):
            print("SKIPPED verl's own script: not there (RLPREP_SHARED or ../shared)", file=sys.stderr)
            return
        argv = [self.python, SCRIPT, "--local_dataset_path", self.path("hub"), "--local_save_dir", os.path.join(OUT, "verl")]
        run = self.once(f"{title}, verl's own script", argv, "verl/train.parquet", want)
        ratio = [w / run.wall for w in ours] if run else []
        self.row(title, "verl's own script, HF datasets (once)", [run] if run else [], ratio)
        self.bar(f"{title}: wall, rlprep / verl's own script", median(ratio), 0.1)

    def memory(self, large):
        """Peak memory does not grow with the file."""
        small = 1 if self.args.quick else 10
        for rows, peaks in large.items():
            source = self.path(f"rg{rows}", "train.parquet", copies=small)
            argv = [self.args.rlprep, "preprocess", "gsm8k", "--source", source, "--split", "train", "-o", os.path.join(OUT, "gsm8k"), "-j", "2"]
            want = self.wanted(self.path("verl", "train.parquet", copies=small))
            title = f"gsm8k → verl rows, row groups of {int(rows):,}, ×{small}"
            runs, _ = self.pairs(title, [("rlprep", argv, "gsm8k/train.parquet")], want, count=3)
            less = [r.rss for r in runs["rlprep"] if r]
            ratio = statistics.median(peaks) / statistics.median(less) if peaks and less else None
            if rows == "7473":  # ×10 is a single row group of the other size, which keeps one thread busy: nothing to compare with
                self.bar(f"peak memory ×{self.copies} / ×{small}, row groups of {int(rows):,}", ratio, 1.2)

    def add(self):
        """A constant column, against cp and sync of the same file on the same file system."""
        source = self.path("verl", "train.parquet")
        added = os.path.join(OUT, "duckdb.parquet")
        shutil.rmtree(OUT, ignore_errors=True)
        os.makedirs(OUT)
        subprocess.run(self.job("duckdb_add", source, added), check=True, capture_output=True, env=environment())
        want = self.content(added)
        copy = os.path.join(OUT, "copy.parquet")
        title = f"add agent_name, {os.path.getsize(source) / 1e6:.0f} MB"
        ours = ("rlprep", [self.args.rlprep, "add", "agent_name=tool_agent", source, "-o", os.path.join(OUT, "added")], "added/train.parquet")
        cp = ("cp + sync", ["sh", "-c", 'cp "$0" "$1" && sync "$1"', source, copy], None)
        _, ratios = self.pairs(title, [ours, cp], want, count=max(3, self.args.pairs))
        self.bar(f"{title}: wall, rlprep / (cp + sync)", median(ratios["cp + sync"]), 2)
        rest = [ours] + [(tool, self.job(job, source, os.path.join(OUT, f"{job}.parquet")), f"{job}.parquet") for tool, job in (("DuckDB COPY", "duckdb_add"), ("Polars sink", "polars_add"))]
        self.pairs(title + ", decoding tools", rest, want, count=min(2, self.args.pairs))

    def lint(self):
        """All rules, against load_dataset of the same file with an empty cache."""
        if subprocess.run([self.args.rlprep, "lint", "--help"], capture_output=True).returncode:
            print("SKIPPED lint: the binary has no such command", file=sys.stderr)
            return
        source = self.path("verl", "train.parquet")
        title = f"lint, {os.path.getsize(source) / 1e6:.0f} MB"
        sides = [
            ("rlprep", [self.args.rlprep, "lint", source, "--output-format", f"jsonl={os.path.join(OUT, 'findings.jsonl')}", "--exit-zero"], None),
            ("datasets.load_dataset, empty cache", self.job("hf_load", source, os.path.join(OUT, "cache")), None),
        ]
        runs, ratios = self.pairs(title, sides, None)
        self.bar(f"{title}: wall, rlprep / load_dataset", median(ratios["datasets.load_dataset, empty cache"]), 1)
        self.bar(f"{title}: peak memory", max((r.rss for r in runs["rlprep"] if r), default=None), 384, " MiB")

    def table(self):
        versions = subprocess.run(self.job("versions"), capture_output=True, text=True).stdout.strip()
        of = open(self.path("source.txt")).read().strip()
        head = [
            f"{of}. {cpu()}, 2 threads; {versions}; median (min–max) of {self.args.pairs} alternating pairs. Other processes used at most {self.others:.0%} of the machine during a run.",
            "Ratio: our wall over the other tool's, pair by pair. Every output was read back in the run and held the rows wanted.",
            "",
            "| job | tool | wall | CPU | peak memory | ratio |",
            "|---|---|---|---|---|---|",
        ]
        lines = head + [f"| {' | '.join(r)} |" for r in self.rows]
        if not self.args.quick:
            lines += ["", "| bar | measured | wanted | |", "|---|---|---|---|"] + [f"| {' | '.join(b)} |" for b in self.bars]
        return "\n".join(lines) + "\n"


def spread(values):
    m = statistics.median(values)
    return f"{m:.2f} ({min(values):.2f}–{max(values):.2f})" if len(values) > 1 else f"{m:.2f}"


def median(values):
    return statistics.median(values) if values else None


def cpu():
    with open("/proc/cpuinfo") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} cores"


def write(table):
    """Puts the table between the markers of docs/benchmarks.md, which it makes where it must."""
    path = os.path.join(ROOT, "docs", "benchmarks.md")
    begin, end = "<!-- bench: written by testdata/bench/run.py --write -->\n", "<!-- end of bench -->\n"
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else "# Benchmarks\n\n"
    if begin not in text:
        text = text.rstrip("\n") + "\n\n" + begin + end
    before, rest = text.split(begin, 1)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + begin + "\n" + table + "\n" + end + rest.split(end, 1)[1])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--quick", action="store_true", help="×1, one pair, no bars: does everything run and give the rows wanted?")
    ap.add_argument("--pairs", type=int, default=0, help="alternating pairs a job (default 5; --quick: 1)")
    ap.add_argument("--only", default="", help="preprocess, memory, add or lint")
    ap.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    ap.add_argument("--rlprep", default=os.path.join(ROOT, "bin", "rlprep"))
    args = ap.parse_args()
    args.pairs = args.pairs or (1 if args.quick else 5)
    args.rlprep = os.path.abspath(args.rlprep)
    bench = Bench(args)
    if bench.selected("preprocess") or bench.selected("memory"):
        large = bench.preprocess()
        bench.memory(large)
    if bench.selected("add"):
        bench.add()
    if bench.selected("lint"):
        bench.lint()
    shutil.rmtree(OUT, ignore_errors=True)
    print(bench.table(), end="")
    if args.write:
        write(bench.table())
    missed = [] if args.quick else [b for b in bench.bars if b[3] != "met"]
    for b in missed:
        print(f"FAIL bar: {b[0]}: {b[1]}, wanted {b[2]}", file=sys.stderr)
    sys.exit(1 if bench.wrong or missed else 0)


if __name__ == "__main__":
    main()
