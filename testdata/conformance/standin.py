"""A stand-in for rlprep made of pyarrow, to try the harness itself: conform.py stand-in."""
import glob
import gzip
import hashlib
import json
import os
import types

import pyarrow as pa
import pyarrow.parquet as pq

import reference


def problems(folder, split):
    for path in sorted(glob.glob(os.path.join(folder, "**", f"{split}*"), recursive=True)):
        if path.endswith(".parquet"):
            t = pq.read_table(path)
            return list(zip(t["question"].to_pylist(), t["answer"].to_pylist()))
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="\n") as f:
            return [(p["question"], p["answer"]) for p in map(json.loads, f)]


def write(table, path, codec="zstd", **more):
    pq.write_table(table, path, compression=codec, write_page_index=True, write_page_checksum=True, **more)


class Tool:
    def run(self, command, *args):
        args = [str(a) for a in args]
        options = {args[i]: args[i + 1] for i in range(len(args) - 1) if args[i].startswith("-")}
        if command == "preprocess":
            self.preprocess(args[0], options)
        elif command == "add":
            self.add([a for a in args[1:] if a.endswith(".parquet")], options["-o"])
        return types.SimpleNamespace(returncode=0, stderr="", stdout="")

    def must(self, score, what, *args, cwd=None):
        return score.check(what, self.run(*args).returncode)

    def preprocess(self, recipe, options):
        out, shards = options["-o"], int(options.get("--shards", 1))
        os.makedirs(out)
        for split in ("train", "test"):
            table = reference.table(recipe, split, problems(options["--source"], split))
            for i in range(shards):
                a, b = table.num_rows * i // shards, table.num_rows * (i + 1) // shards
                name = f"{split}.parquet" if shards == 1 else f"{split}-{i:05d}-of-{shards:05d}.parquet"
                write(table.slice(a, b - a), os.path.join(out, name), options.get("--compression", "zstd"))
        lines = [f"{hashlib.sha256(open(os.path.join(out, n), 'rb').read()).hexdigest()}  {n}" for n in sorted(os.listdir(out))]
        manifest = {"dataset_sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest(), "shards": lines}
        with open(os.path.join(out, "manifest.json"), "w") as f:
            json.dump(manifest, f)

    def add(self, files, out):
        os.makedirs(out)
        for path in files:
            t = pq.read_table(path)
            t = t.append_column("agent_name", pa.array(["tool_agent"] * t.num_rows))
            write(t, os.path.join(out, os.path.basename(path)))
