#!/usr/bin/env python3
"""Make the rows that verl's own scripts make of testdata/sample, the sample of the gsm8k recipes.

    python3 -m venv V && V/bin/pip install datasets==5.2.0 pyarrow==26.0.1
    V/bin/python datasets/testdata/make.py SCRIPTS

SCRIPTS is a folder with gsm8k.py, gsm8k_multiturn_w_tool.py, … of verl@b178a3cd5 (2026-01-29, examples/data_preprocess)
and a folder stub/ that stands for the one module of verl that they import (verl.utils.hdfs_io); they are run as they are.
Each gives NAME/{train,test}.want.jsonl, the rows as compact JSON with the keys in the order of the schema, and
NAME/want.schema.txt, a column a line as Arrow names its type (before pyarrow 24 the keys of structs came out sorted).

--source FOLDER reads FOLDER/{train,test}.jsonl in place of the sample, --into FOLDER writes elsewhere; the sha256 of each
file, without the newline at its end, is printed.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).resolve().parent
NAMES = [
    "gsm8k",
    "gsm8k_multiturn_w_tool",
    "gsm8k_tool_agent_loop",
    "gsm8k_multiturn_w_interaction",
    "gsm8k_multiturn_sft",
]
SPLITS = ["train", "test"]
CARD = """---
configs:
- config_name: main
  data_files:
  - split: train
    path: main/train-*
  - split: test
    path: main/test-*
---
"""


def lay_out(source, folder):
    """Write the JSON Lines of source as the hub lays out openai/gsm8k."""
    (folder / "main").mkdir()
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    for split in SPLITS:
        with open(source / f"{split}.jsonl", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        table = pa.table({key: [row[key] for row in rows] for key in ("question", "answer")})
        pq.write_table(table, folder / "main" / f"{split}-00000-of-00001.parquet")


def run(scripts, name, source, out, home):
    """Run one of verl's scripts; every run has a cache of its own, as HF's is keyed by the folder's name."""
    env = dict(os.environ, HF_HUB_OFFLINE="1", HF_HOME=str(home), PYTHONPATH="stub", PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable, f"{name}.py", "--local_dataset_path", str(source), "--local_save_dir", str(out)]
    done = subprocess.run(command, cwd=scripts, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}.py: {done.stderr}")


def keep(name, split, made, into):
    """Write the rows and the types of one file that a script made."""
    table = pq.read_table(made / f"{split}.parquet")
    rows = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in table.to_pylist()]
    text = "\n".join(rows)
    print(hashlib.sha256(text.encode()).hexdigest(), f"{name}/{split}")
    folder = into / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{split}.want.jsonl").write_text(text + "\n", encoding="utf-8", newline="\n")
    types = "".join(f"{field.name}: {field.type}\n" for field in table.schema)
    (folder / "want.schema.txt").write_text(types, encoding="utf-8", newline="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, default=HERE.parents[1] / "testdata" / "sample")
    parser.add_argument("--into", type=pathlib.Path, default=HERE)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        source = pathlib.Path(tmp, "source")
        source.mkdir()
        lay_out(args.source, source)
        for name in NAMES:
            out = pathlib.Path(tmp, name)
            out.mkdir()
            run(args.scripts, name, source, out, pathlib.Path(tmp, name + ".home"))
            for split in SPLITS:
                keep(name, split, out, args.into)


if __name__ == "__main__":
    main()
