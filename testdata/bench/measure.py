"""How a benchmark is measured: one process a run, sides in turn, outputs read back, medians of ratios.

Nothing large is imported here: a child's peak memory begins at its parent's.
"""
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
STUB = os.path.join(SHARED, "data", "verl-scripts", "stub")
JOBS = os.path.join(HERE, "jobs.py")
MIB = 1 << 20
CP = "cp --reflink=never"


def environment():
    """What every child is given: two threads, no network, and the stand-in for what verl's own script imports of verl."""
    env = dict(os.environ, GOMAXPROCS="2", POLARS_MAX_THREADS="2", OMP_NUM_THREADS="2", PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1")
    env["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
    env["PYTHONPATH"] = STUB
    env["HF_HOME"] = os.path.join(OUT, "hf")
    return env


class Run:
    """One process, followed by a sync of what it wrote: wall and CPU seconds, peak MiB, bytes, and how much of the machine others
    used meanwhile."""

    def __init__(self, argv, pattern=None):
        os.sync()  # what was written before is not ours to wait for
        busy = machine()
        start = time.perf_counter()
        p = subprocess.Popen(pinned(argv), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment())
        self.output = p.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        done = time.perf_counter()
        files = glob.glob(pattern) if pattern else []
        for path in files:
            fsync(path)
        self.wall = elapsed = time.perf_counter() - start
        self.bytes = sum(map(os.path.getsize, files))
        self.cpu = usage.ru_utime + usage.ru_stime
        self.rss = usage.ru_maxrss / 1024
        self.others = max(0.0, (machine() - busy - self.cpu) / elapsed / (os.cpu_count() or 1))
        self.status = p.returncode
        for line in self.output.splitlines():
            if line.startswith("seconds ") and argv[1] == JOBS:
                self.wall += float(line.split()[1]) - (done - start)


def fsync(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


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
        return [self.python, JOBS, name, *argv]

    def content(self, pattern, edit="none"):
        done = subprocess.run(self.job("content", pattern, "", edit), capture_output=True, text=True, env=environment())
        return done.stdout.strip() if done.returncode == 0 else f"unreadable: {done.stderr.strip()[-300:]}"

    def wanted(self, path, edit="none"):
        if (path, edit) not in self.hashes:
            self.hashes[path, edit] = self.content(path, edit)
        return self.hashes[path, edit]

    def once(self, what, argv, file, want):
        """Runs a command into an empty OUT and reads its output back; None where it failed or its output is wrong. want: what content
        gives of it, or a function that reads the files and returns what is wrong with them."""
        shutil.rmtree(OUT, ignore_errors=True)
        os.makedirs(OUT)
        pattern = os.path.join(OUT, file) if file else None
        run = Run(argv, pattern)
        said = "" if run.status == 0 else f"exit {run.status}: {run.output.strip()[-400:]}"
        if not said and callable(want):
            said = want(pattern) if pattern else ""
        elif not said and want:
            got = self.content(pattern)
            said = "" if got == want else f"wrong rows: {got[-300:]}, not {want[-300:]}"
        self.others = max(self.others, run.others)
        print(f"{what}: {run.wall:.2f} s, {run.rss:.0f} MiB", file=sys.stderr, flush=True)
        if said:
            self.wrong += 1
            print(f"FAIL {what}: {said}", file=sys.stderr)
            return None
        return run

    def pairs(self, title, sides, want, count=None):
        """Runs sides in turn. sides: [(tool, argv, pattern of the output below OUT)], ours first. Rows of the table, ratios to each."""
        runs = {tool: [] for tool, _, _ in sides}
        for n in range(count or self.args.pairs):
            for tool, argv, file in sides if n % 2 == 0 else sides[::-1]:
                # cp's copy is read back like the others' output: what runs after a read-back should be the same for all
                run = self.once(f"{title}, {tool}", argv, file, self.wanted(argv[2]) if tool == CP else want)
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
            self.rows.append((title, tool, "failed", "", "", "", ""))
            return
        wall = [r.wall for r in runs]
        self.rows.append((
            title,
            tool,
            f"{spread(wall)} s",
            f"{statistics.median(r.cpu for r in runs):.2f} s",
            f"{max(r.rss for r in runs):.0f} MiB",
            f"{runs[0].bytes / 1e6:.1f} MB" if runs[0].bytes else "",
            f"{spread(ratio)}" if ratio else "",
        ))

    def bar(self, what, value, limit, unit=""):
        met = value is not None and value <= limit
        self.bars.append((what, "none" if value is None else f"{value:.3g}{unit}", f"≤ {limit:.3g}{unit}", "met" if met else "NOT met"))

    def copying(self, source):
        """cp's side."""
        return CP, ["cp", "--reflink=never", source, os.path.join(OUT, "copy.parquet")], "copy.parquet"

    def table(self):
        versions = subprocess.run(self.job("versions"), capture_output=True, text=True).stdout.strip()
        of = open(self.path("source.txt")).read().strip()
        head = [
            f"{time.strftime('%Y-%m-%d')}. {of}. {cpu()}, 2 threads; {versions}; median (min–max) of {self.args.pairs} alternating pairs. Other processes used at most {self.others:.0%} of the machine during a run.",
            "A sync of its file follows every writer. Ratio: the wall time of rlprep divided by that of the other tool, computed for each pair. Every output was read back in the same run and has the expected rows.",
            "",
            "| job | tool | wall | CPU | peak memory | file | ratio |",
            "|---|---|---|---|---|---|---|",
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


def fastest(ratios, tools):
    """The median ratio to the tool that it is worst against; None where one of them has none."""
    medians = [median(ratios[t]) for t in tools]
    return None if None in medians else max(medians)


def peak(runs):
    """The largest peak memory of runs, in MiB."""
    return max((r.rss for r in runs if r), default=None)


def footer(path):
    """The length of a Parquet file's footer, in bytes."""
    with open(path, "rb") as f:
        f.seek(-8, os.SEEK_END)
        return int.from_bytes(f.read(4), "little")


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
