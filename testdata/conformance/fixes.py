"""Files of many writers, fixed by `lint --fix --unsafe-fixes`: what is not said to be fixed is as it was, as pyarrow reads it.

Usage: fixes.py RLPREP. Every file below testdata/parquet that pyarrow reads is copied and fixed. Columns that no line "fixed: FILE: COLUMN: …"
names hold the same values and have the same types. Rows may be left out where a line says so. A file that rlprep refuses is byte for byte as it was.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pyarrow.parquet as pq

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def fixed(rlprep, file):
    """What a run of lint --fix says, and its exit status."""
    r = subprocess.run([rlprep, "lint", "--fix", "--unsafe-fixes", "--agent", "tool_agent", "--no-cache", "--no-project", "--output-format", "concise", file],
                       capture_output=True, text=True, errors="replace", timeout=300)
    return r.returncode, r.stderr


def columns(said, file):
    """The top-level columns that are said to be fixed."""
    names = re.findall("(?m)^fixed: " + re.escape(file) + r": ([^:]+): RL", said)
    return {re.split(r"\.|\[", n)[0] for n in names}


def rows(table, without):
    kept = [n for n in table.column_names if n not in without]
    return table.select(kept).schema.types, [repr(r) for r in table.select(kept).to_pylist()]


def within(part, whole):
    """Whether part is whole with items left out."""
    rest = iter(whole)
    return all(any(x == y for y in rest) for x in part)


def compare(rlprep, file, copy):
    """What is wrong, or how the run ended."""
    shutil.copyfile(file, copy)
    status, said = fixed(rlprep, copy)
    with open(file, "rb") as a, open(copy, "rb") as b:
        same = a.read() == b.read()
    if status > 1:
        return "refused" if status == 3 and same and copy in said else f"WRONG exit {status}, as it was: {same}: {said[:300]}"
    if same:
        return "as it was"
    try:
        before = pq.read_table(file)
    except Exception:  # pyarrow has no one error for what it cannot read
        return "pyarrow cannot read it"
    types, want = rows(before, columns(said, copy))
    table = pq.read_table(copy)
    got_types, got = rows(table, columns(said, copy))
    if types != got_types:
        return f"WRONG types {got_types}, were {types}"
    if got != want and not ("leaves the rows out" in said and within(got, want)):
        return f"WRONG rows: {len(got)}, were {len(want)}: {said[:300]}"
    return "fixed"


def main():
    rlprep = os.path.abspath(sys.argv[1])
    ends = {}
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(glob.glob(os.path.join(ROOT, "testdata", "parquet", "**", "*.parquet"), recursive=True)):
            if "-1-g" in file or os.sep + "lies" + os.sep in file:
                continue  # bombs, and statistics that lie
            end = compare(rlprep, file, os.path.join(folder, os.path.basename(file)))
            ends.setdefault(end[:5] if end.startswith("WRONG") else end, []).append(file)
            if end.startswith("WRONG"):
                print(os.path.relpath(file, ROOT), end)
    print("lint --fix: " + ", ".join(f"{len(files)} {end}" for end, files in sorted(ends.items())))
    if "WRONG" in ends or len(ends.get("fixed", [])) < 40:
        sys.exit(1)


if __name__ == "__main__":
    main()
