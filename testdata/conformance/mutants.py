"""Damaged Parquet files, read by rlprep and by pyarrow: where both read, rows are equal.

Usage: mutants.py RLPREP [--count N] [--keep DIR] [--list]. The Go test TestWriteMutants writes the mutants (internal/parquetio/mutant says how
they are made; number I is the same file in every run). Each is read whole by `rlprep inspect` and by pyarrow with checksums and
full validation. Both refuse, or both read the same schema and the same rows. What pyarrow refuses and rlprep reads is counted by
what pyarrow says; --list shows each. KNOWN lists the kinds for which reading is right, and what must hold for each file; docs/conformance.md
says why. Any other kind is an error.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

SEED, OTHER = "the seed's rows", "other rows"

# What pyarrow 26 says of files that rlprep reads on purpose, and what must hold, one of several: SEED, the rows are those of the file before the
# damage; OTHER, they are not; a rule, lint reports it. docs/conformance.md has the same table, with the reasons.
KNOWN = [
    ("missing or mistyped Thrift fields", r"Couldn't deserialize thrift", [SEED]),
    ("ARROW:schema is damaged", r"Invalid base\d+ input|flatbuffer|metadata bytes, but only|Tried reading schema message|Expected IPC message"
     r"|Unrecognized type: |Corrupted message|more than \d+ bits|Invalid: Unsupported|[Ee]xtension|IPC|Old metadata version|Corrupted metadata length", [SEED, "RL007"]),
    ("text that is not UTF-8", r"Invalid UTF\w+ sequence", ["RL006"]),
    ("size statistics", r"level histogram size mismatch", [SEED, OTHER]),
    ("column orders are missing", r"not enough ColumnOrder values", [SEED]),
    ("bounds in statistics that are cut off", r"Unexpected end of stream", [SEED]),
    ("decimals that are too long", r"Invalid BYTE_ARRAY length for decimal", [SEED, OTHER]),
    ("a dictionary after its values", r"Dictionary page must be before data page", [SEED]),
]


# --- the child: pyarrow, which a damaged file may end ----------------------------------------------------------------------

def child():
    import pyarrow as pa
    import pyarrow.parquet as pq
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    pa.set_cpu_count(1)
    for line in sys.stdin:
        task = json.loads(line)
        print(json.dumps(verdict(pa, pq, task)), flush=True)


def verdict(pa, pq, task):
    try:
        table = pq.ParquetFile(task["file"], page_checksum_verification=True).read(use_threads=False)
        table.validate(full=True)
    except Exception as e:  # pyarrow has no one error for damage
        return {"refused": f"{type(e).__name__}: {e}"[:300]}
    if "doc" not in task:
        return {"rows": table.num_rows}
    try:
        return {"rows": table.num_rows, "differ": differ(pa, table, json.loads(task["doc"])[0])}
    except Exception as e:
        return {"rows": table.num_rows, "differ": f"compare: {type(e).__name__}: {e}"[:300]}


def differ(pa, table, doc):
    """What of rlprep's reading is not pyarrow's; "" for nothing."""
    theirs = [(f.name, str(f.type)) for f in table.schema]
    ours = [(f["name"], f["type"]) for f in doc["schema"]]
    if [n for n, _ in theirs] != [n for n, _ in ours]:
        return f"columns: {[n for n, _ in ours]}, pyarrow {[n for n, _ in theirs]}"[:300]
    for (name, a), (_, b) in zip(ours, theirs):
        if spelled(a) != spelled(b) and not keeps(spelled(a), spelled(b)):
            return f"type of {name}: {a}, pyarrow {b}"[:300]
    if doc["rows"] != table.num_rows or len(doc["first_rows"] or []) != table.num_rows:
        return f"rows: {doc['rows']}, pyarrow {table.num_rows}"
    if len({n for n, _ in theirs}) < len(theirs):
        return ""  # JSON has one value for a name
    for name, column in zip(table.column_names, table.columns):
        if not plain(pa, column.type):
            continue
        if spelled(dict(ours)[name]) != spelled(str(column.type)):
            continue  # keeps: there are nulls for values
        for i, want in enumerate(column.to_pylist()):
            row = doc["first_rows"][i]
            if isinstance(row, str):  # a number that JSON has not
                row = json.loads(row)
            got = row.get(name)
            if not same(got, want):
                return f"value of {name} in row {i}: {got!r:.80}, pyarrow {want!r:.80}"
    return ""


def spelled(t):
    """A type as both spell it: rlprep does not say of what width indices are, that a text is JSON, or what a map's entries are called."""
    return re.sub(r" \('\w+'\)", "", re.sub(r"indices=\w+", "indices=…", t.replace("extension<arrow.json>", "string")))


def keeps(ours, theirs):
    """Whether the types differ only where pyarrow reads null and rlprep the stored values: a column annotated UNKNOWN that has values (RL024)."""
    return re.fullmatch(re.escape(theirs).replace("null", r"(?:[\w\[\]]+|dictionary<[^<>]*>)"), ours) is not None


def plain(pa, t):
    """Whether values of the type are the same in JSON and in Python."""
    if pa.types.is_struct(t):
        return len({f.name for f in t}) == t.num_fields and all(plain(pa, f.type) for f in t)
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return plain(pa, t.value_type)
    if pa.types.is_dictionary(t):
        return plain(pa, t.value_type)
    return (pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t) or pa.types.is_string(t) or
            pa.types.is_large_string(t) or pa.types.is_string_view(t) or pa.types.is_null(t))


def same(got, want):
    if isinstance(want, dict):
        return isinstance(got, dict) and len(got) == len(want) and all(k in got and same(got[k], v) for k, v in want.items())
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    if isinstance(want, float) and not math.isfinite(want):
        return True  # JSON has no number for it
    if isinstance(want, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        return got == want or abs(got - want) <= 1e-6 * abs(want)  # float32 has fewer digits
    return type(got) is type(want) and got == want


class Reader:
    """pyarrow in a process of its own, started again when a file ends it."""

    def __init__(self):
        self.process = None

    def ask(self, task):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], 120)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.close()
        return {"refused": "pyarrow ended without an answer"}

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


# --- rlprep ------------------------------------------------------------------------------------------------------------------

def inspect(rlprep, file):
    """rlprep's reading of a whole file: its JSON, or None and the message."""
    r = subprocess.run([rlprep, "inspect", "--rows", "1000000", "--json", file], capture_output=True, text=True, errors="replace", timeout=300)
    if r.returncode == 0:
        return r.stdout, ""
    if r.returncode != 3 or os.path.basename(file) not in r.stderr or "panicked" in r.stderr:
        raise AssertionError(f"{file}: exit {r.returncode}: {r.stderr[:500]}")
    return None, r.stderr.strip()


def write_mutants(folder, count):
    env = dict(os.environ, RLPREP_MUTANTS_OUT=folder, RLPREP_MUTANTS=str(count))
    env.pop("RLPREP_MUTANT", None)
    subprocess.run(["go", "test", "./cmd/rlprep", "-count=1", "-run", "^TestWriteMutants$"], cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "mutants.jsonl")) as f:
        return [json.loads(line) for line in f]


def phrase(message):
    """A message of pyarrow without what differs from file to file."""
    message = re.sub(r"'[^']{2,}'|\"[^\"]*\"", "…", message.split("\n")[0].replace("Couldn't", "Could not"))
    return re.sub(r"-?\d+", "N", message)[:110]


def unfounded(rlprep, file, refused, equal):
    """The kind of a file that pyarrow alone refuses, and why it should have been refused too; "" where reading it is right."""
    for kind, words, asks in KNOWN:
        if not re.search(words, refused):
            continue
        if equal in asks or any(a in lint(rlprep, file) for a in asks if a.startswith("RL")):
            return kind, ""
        return kind, f"{equal}, and asked for is {' or '.join(asks)}"
    return phrase(refused), "this kind is not in KNOWN"


def lint(rlprep, file):
    r = subprocess.run([rlprep, "lint", "--no-cache", "--no-project", "--output-format", "concise", file], capture_output=True, text=True, errors="replace",
                       timeout=300)
    return r.stdout


def rows_of(doc):
    return json.loads(doc)[0]["first_rows"]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("rlprep")
    args.add_argument("--count", type=int, default=400)
    args.add_argument("--keep", help="folder for the mutants; those that are there are used")
    args.add_argument("--list", action="store_true")
    args = args.parse_args()
    args.rlprep = os.path.abspath(args.rlprep)
    folder = args.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    mutants = write_mutants(folder, args.count)
    ends, kinds, wrong = compare(args.rlprep, folder, mutants)
    for kind, of in sorted(kinds.items(), key=lambda k: -len(k[1])):
        print(f"{len(of):5} {kind}")
        for m, note in of if args.list else []:
            print(f"      {m['file']}: {m['kind']}: {m['what'][:100]}: {note[:160]}")
    for m, what in wrong:
        print(f"WRONG {m['file']}: {m['kind']}: {m['what'][:100]}: {what}")
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {k}" for k, n in sorted(ends.items())) + f"; {len(wrong)} wrong")
    if not args.keep:
        shutil.rmtree(folder)
    if wrong or ends["both read"] < len(mutants) // 5:
        sys.exit(1)


def compare(rlprep, folder, mutants):
    """Counts of how the mutants end, those that one reader alone refuses by kind, and those that must not be."""
    reader, ends, kinds, wrong, seeds = Reader(), collections.Counter(), collections.defaultdict(list), [], {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        docs = pool.map(lambda m: inspect(rlprep, os.path.join(folder, m["file"])), mutants)
        for m, (doc, said) in zip(mutants, docs):
            file = os.path.join(folder, m["file"])
            answer = reader.ask({"file": file, "doc": doc} if doc else {"file": file})
            refused = answer.get("refused")
            if doc is None:
                ends["both refuse" if refused else "rlprep alone refuses"] += 1
                if not refused:
                    kinds["rlprep refuses: " + phrase(said.split(": ", 2)[-1])].append((m, said))
                    if m["same"]:
                        wrong.append((m, "refused, and only statistics or unknown fields differ from the seed: " + said))
            elif refused:
                if m["seed"] not in seeds:
                    seeds[m["seed"]] = rows_of(inspect(rlprep, os.path.join(folder, "seed-" + m["seed"]))[0])
                equal = SEED if rows_of(doc) == seeds[m["seed"]] else OTHER
                kind, fault = unfounded(rlprep, file, refused, equal)
                ends["pyarrow alone refuses"] += 1
                kinds["pyarrow refuses: " + kind].append((m, equal))
                if fault:
                    wrong.append((m, f"pyarrow refuses it: {refused}: {fault}"))
            else:
                ends["both read"] += 1
                if answer["differ"]:
                    wrong.append((m, answer["differ"]))
    reader.close()
    return ends, kinds, wrong


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        child()
    else:
        main()
