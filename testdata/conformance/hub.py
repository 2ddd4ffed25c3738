"""The real huggingface_hub and datasets clients against our Hub (internal/hub/hubtest) and against the cache that rlprep writes.

Usage: hub.py RLPREP SERVE (see run.sh). Prints a line a failure and `N passed, N failed` at the end.

They load from the server, so that it is a Hub and not only what our client expects; they find what rlprep cached with no network, and
rlprep finds what they cached; after each of 20 downloads with ten faults injected in each, they and rlprep agree on the cache.
"""
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import textwrap

import pyarrow as pa
import pyarrow.parquet as pq

REPO = "owner/data"
README = """---
configs:
- config_name: main
  data_files:
  - split: train
    path: main/train-*
  - split: test
    path: main/test-*
---
# data
"""


class Score:
    passed = failed = 0

    def check(self, what, bad=None):
        self.passed, self.failed = self.passed + (not bad), self.failed + bool(bad)
        if bad:
            print(f"FAIL {what}: {str(bad)[:1500]}", flush=True)
        return not bad


def dataset(folder):
    """A dataset of two shards and a test split, with a file of every sort."""
    os.makedirs(f"{folder}/main/notes")
    rows = [{"question": f"What is {i} and 1? " + hashlib.sha256(str(i).encode()).hexdigest() * 4, "answer": f"It is.\n#### {i + 1}"} for i in range(6000)]
    for name, part in (("train-00000-of-00002", rows[:3000]), ("train-00001-of-00002", rows[3000:5000]), ("test-00000-of-00001", rows[5000:])):
        pq.write_table(pa.Table.from_pylist(part), f"{folder}/main/{name}.parquet", compression="none")
    open(f"{folder}/README.md", "w").write(README)
    open(f"{folder}/main/notes/a b%.jsonl", "w").write('{"x": 1}\n')
    open(f"{folder}/empty.jsonl", "w").close()


class Hub:
    """The server as a process."""

    def __init__(self, serve, folder, *flags):
        self.command = [serve, *map(str, flags), folder]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        return self

    def __exit__(self, *_):
        self.left = self.process.communicate()[0]


def environment(home, url, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    return env | {"HF_HOME": home, "HF_ENDPOINT": url, "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DOWNLOAD_TIMEOUT": "2"} | more


def python(code, env):
    """What code prints, in a process of its own: the libraries read the environment once."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=120)
    return done.stdout.strip() if done.returncode == 0 else "failed: " + done.stderr.strip()[-800:]


def run(tool, env, *args):
    return subprocess.run([tool, *args], env=env, capture_output=True, text=True, timeout=120)


def sums(folder):
    return {os.path.relpath(f, folder): hashlib.sha256(open(f, "rb").read()).hexdigest() for f in glob.glob(f"{folder}/**", recursive=True) if os.path.isfile(f)}


# What Python says of the cache, with no network: the bytes of every file of the commit that it finds.
LOCAL = f"""
    import hashlib, json, os
    from huggingface_hub import scan_cache_dir, try_to_load_from_cache, hf_hub_download
    info = scan_cache_dir()
    out = {{"warnings": [str(w) for w in info.warnings], "files": {{}}}}
    for repo in info.repos:
        for rev in repo.revisions:
            for f in rev.files:
                name = os.path.relpath(f.file_path, rev.snapshot_path)
                found = hf_hub_download({REPO!r}, name, repo_type="dataset", revision=rev.commit_hash, local_files_only=True)
                assert os.path.samefile(found, f.file_path), found
                data = open(found, "rb").read()
                assert len(data) == f.size_on_disk
                out["files"][name] = hashlib.sha256(data).hexdigest()
    print(json.dumps(out))
"""


def agrees(said, want, some=False):
    """Nothing where Python sees just the files wanted, or some of them."""
    try:
        got = json.loads(said)
    except ValueError:
        return said
    if got["warnings"]:
        return got["warnings"]
    wrong = [f for f, h in got["files"].items() if want.get(f) != h] + ([] if some else [f for f in want if f not in got["files"]])
    return wrong and f"{wrong[:3]} differ or are missing (of {len(got['files'])})"


def clients(score, serve, folder, work):
    """Python loads from the server alone."""
    want = sums(f"{folder}/{REPO}")
    with Hub(serve, folder) as hub:
        env = environment(os.path.join(work, "clients"), hub.url)
        said = python(f"from huggingface_hub import snapshot_download; print(snapshot_download({REPO!r}, repo_type='dataset'))", env)
        score.check("snapshot_download", not os.path.isdir(said) and said or sums(said) != want and "other files")
        said = python(f"from huggingface_hub import HfApi; print(sorted(f for f in HfApi().list_repo_files({REPO!r}, repo_type='dataset')))", env)
        score.check("list_repo_files", said != str(sorted(want)) and said)
        said = python(f"import datasets; d = datasets.load_dataset({REPO!r}, 'main'); print(d['train'].num_rows, d['test'].num_rows, d['train'][2999]['answer'][-4:])", env)
        score.check("load_dataset", said.split() != ["5000", "1000", "3000"] and said)
        said = python(f"from huggingface_hub import HfFileSystem; print(sorted(HfFileSystem().glob('datasets/{REPO}/main/*.parquet'))[0])", env)
        score.check("HfFileSystem.glob", "test-00000-of-00001.parquet" not in said and said)
        said = python(f"""
            from huggingface_hub import hf_hub_download
            from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError
            for kind, args, more in ((EntryNotFoundError, ({REPO!r}, "none.txt"), {{}}), (RevisionNotFoundError, ({REPO!r}, "README.md"), {{"revision": "v9"}}), (RepositoryNotFoundError, ("owner/none", "README.md"), {{}})):
                try:
                    hf_hub_download(*args, repo_type="dataset", **more)
                    print("no", kind)
                except kind:
                    print("yes")
        """, env)
        score.check("errors", said.split() != ["yes"] * 3 and said)


def caches(score, tool, serve, folder, work):
    """Each finds what the other cached."""
    want = sums(f"{folder}/{REPO}")
    with Hub(serve, folder) as hub:
        home = os.path.join(work, "ours")
        env = environment(home, hub.url)
        done = run(tool, env, "preprocess", "gsm8k", "--source", f"hf://datasets/{REPO}/main", "-o", os.path.join(work, "out"), "-q")
        score.check("rlprep preprocess", done.returncode and done.stderr)
        local = {f: h for f, h in want.items() if f.startswith("main/t")}
        score.check("Python finds what rlprep cached", agrees(python(LOCAL, environment(home, "http://127.0.0.1:9", HF_HUB_OFFLINE="1")), local))
        offline = environment(home, "http://127.0.0.1:9", HF_HUB_OFFLINE="1")
        said = python(f"from huggingface_hub import snapshot_download; print(snapshot_download({REPO!r}, repo_type='dataset', allow_patterns=['main/t*']))", offline)
        score.check("snapshot_download offline, by rlprep's list of files", not os.path.isdir(said) and said)
        said = python(f"from huggingface_hub import snapshot_download; print(snapshot_download({REPO!r}, repo_type='dataset'))", offline)
        score.check("snapshot_download offline says that files are missing", "IncompleteSnapshotError" not in said and said)
        said = python(f"from huggingface_hub import snapshot_download; print(snapshot_download({REPO!r}, repo_type='dataset'))", env)
        score.check("snapshot_download completes rlprep's snapshot", not os.path.isdir(said) and said or sums(said) != want and "other files")

        home = os.path.join(work, "theirs")
        said = python(f"from huggingface_hub import snapshot_download; print(snapshot_download({REPO!r}, repo_type='dataset', revision='v1'))", environment(home, hub.url))
        score.check("snapshot_download of a tag", not os.path.isdir(said) and said)
        done = run(tool, environment(home, "http://127.0.0.1:9", HF_HUB_OFFLINE="1"), "preprocess", "gsm8k", "--source", f"hf://datasets/{REPO}@v1/main", "-o", os.path.join(work, "out2"), "-q")
        score.check("rlprep finds what snapshot_download cached", done.returncode and done.stderr)
        score.check("equal outputs", sums(os.path.join(work, "out")) != {k: v for k, v in sums(os.path.join(work, "out2")).items()} and "the outputs differ")

        home = os.path.join(work, "file")
        python(f"from huggingface_hub import hf_hub_download; hf_hub_download({REPO!r}, 'main/test-00000-of-00001.parquet', repo_type='dataset')", environment(home, hub.url))
        offline = environment(home, "http://127.0.0.1:9", HF_HUB_OFFLINE="1")
        done = run(tool, offline, "inspect", f"hf://datasets/{REPO}/main/test-00000-of-00001.parquet")
        score.check("rlprep finds what hf_hub_download cached", done.returncode and done.stderr)
        done = run(tool, offline, "inspect", f"hf://datasets/{REPO}/main/train-00000-of-00002.parquet")
        score.check("and says what it did not", (done.returncode != 2 or "not in the cache" not in done.stderr) and f"{done.returncode} {done.stderr}")


def faults(score, tool, serve, folder, work):
    """20 downloads with ten faults each."""
    want, ended, left = sums(f"{folder}/{REPO}"), {0: 0, 3: 0}, 0
    for seed in range(20):
        home = os.path.join(work, f"faults{seed}")
        with Hub(serve, folder, "-faults", 10, "-seed", seed) as hub:
            env = environment(home, hub.url)
            done = run(tool, env, "preprocess", "gsm8k", "--source", f"hf://datasets/{REPO}/main", "-o", os.path.join(work, f"f{seed}"), "-q")
            ended[done.returncode] = ended.get(done.returncode, 0) + 1
            score.check(f"faults {seed}: whole, or an error that says what happened", done.returncode not in (0, 3) and done.stderr or done.returncode == 3 and REPO not in done.stderr and done.stderr)
            if os.path.isdir(f"{home}/hub"):
                score.check(f"faults {seed}: Python's view of the cache", agrees(python(LOCAL, environment(home, "http://127.0.0.1:9", HF_HUB_OFFLINE="1")), want, some=True))
            while done.returncode:  # what is left of the faults comes now; it is taken up each time
                done = run(tool, env, "preprocess", "gsm8k", "--source", f"hf://datasets/{REPO}/main", "-o", os.path.join(work, f"f{seed}"), "-q")
        left += int(hub.left.split()[0])
        local = {f: h for f, h in want.items() if f.startswith("main/t")}
        score.check(f"faults {seed}: whole in the end", agrees(python(LOCAL, environment(home, "http://127.0.0.1:9", HF_HUB_OFFLINE="1")), local))
    print(f"{200 - left} faults over 20 downloads; exit statuses {ended}")
    score.check("faults were injected", left > 100 and f"{left} of 200 were not")


def main():
    tool, serve = map(os.path.abspath, sys.argv[1:3])
    score = Score()
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "served")
        dataset(f"{folder}/{REPO}")
        clients(score, serve, folder, work)
        caches(score, tool, serve, folder, work)
        faults(score, tool, serve, folder, work)
    print(f"{score.passed} passed, {score.failed} failed")
    return score.failed > 0


if __name__ == "__main__":
    sys.exit(main())
