"""Random operations on text, numbers, formats, JSON and regular expressions by map, against the same in this Python.

Usage: map.py RLPREP [--cases N] [--seed S]. Each case is a row with random values and one operation of OPS. Where map gives a value it must be
Python's; where it gives none it must be a row that is rejected. Left out is what docs/scripting.md lists: a capital sigma behind a modifier letter.
regexps.py compares regular expressions alone, and more of them.
"""
import argparse
import json
import math  # noqa: F401, for OPS
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

import pyarrow.parquet as pq

SCRIPT = r'''
OPS = [
 lambda e: ("{:" + e["spec"] + "}").format(e["i"]),
 lambda e: ("{:" + e["spec"] + "}").format(e["f"]),
 lambda e: ("{:" + e["spec"] + "}").format(e["a"]),
 lambda e: ("%" + e["pspec"]) % e["i"],
 lambda e: ("%" + e["pspec"]) % e["f"],
 lambda e: ("%" + e["pspec"]) % e["a"],
 lambda e: e["a"][e["i"]:e["j"]],
 lambda e: e["a"][e["i"]:e["j"]:e["k"]],
 lambda e: e["a"][e["i"]],
 lambda e: e["a"].split(),
 lambda e: e["a"].split(e["b"]),
 lambda e: e["a"].split(None, e["i"]),
 lambda e: e["a"].rsplit(e["b"], e["i"]),
 lambda e: e["a"].rsplit(None, e["i"]),
 lambda e: e["a"].splitlines(),
 lambda e: e["a"].strip(),
 lambda e: e["a"].strip(e["b"]),
 lambda e: e["a"].replace(e["b"], "<>"),
 lambda e: e["a"].replace(e["b"], "<>", e["i"]),
 lambda e: e["a"].find(e["b"], e["i"]),
 lambda e: e["a"].rfind(e["b"], e["i"], e["j"]),
 lambda e: e["a"].count(e["b"]),
 lambda e: e["a"].upper(),
 lambda e: e["a"].lower(),
 lambda e: e["a"].title(),
 lambda e: e["a"].capitalize(),
 lambda e: e["a"].swapcase(),
 lambda e: e["a"].casefold(),
 lambda e: [e["a"].isdigit(), e["a"].isalpha(), e["a"].isalnum(), e["a"].isspace(), e["a"].isupper(), e["a"].islower(), e["a"].isnumeric(), e["a"].isdecimal()],
 lambda e: e["a"].center(e["j"], "*"),
 lambda e: e["a"].ljust(e["j"]) + e["a"].rjust(e["j"]) + e["a"].zfill(e["j"]),
 lambda e: repr(e["a"]),
 lambda e: json.dumps(e["a"]),
 lambda e: json.dumps({"x": e["a"], "f": e["f"], "i": e["i"], "l": [e["b"]]}, ensure_ascii=False, indent=e["k"]),
 lambda e: json.loads(e["js"]),
 lambda e: int(e["num"]),
 lambda e: float(e["num"]),
 lambda e: str(e["f"]),
 lambda e: round(e["f"], e["k"]),
 lambda e: round(e["f"]),
 lambda e: e["i"] // e["k"],
 lambda e: e["i"] % e["k"],
 lambda e: e["f"] // e["k"],
 lambda e: e["f"] % e["k"],
 lambda e: e["i"] / e["k"],
 lambda e: [m.group() for m in re.finditer(e["re"], e["a"])],
 lambda e: re.sub(e["re"], "<X>", e["a"]),
 lambda e: re.split(e["re"], e["a"]),
 lambda e: re.findall(e["re"], e["a"]),
 lambda e: [m.span() for m in re.finditer(e["re"], e["a"])],
 lambda e: re.match(e["re"], e["a"]).groups(),
 lambda e: re.fullmatch(e["re"], e["a"]) != None,
 lambda e: re.sub(e["re"], r"[\g<0>]", e["a"], count=abs(e["i"])),
 lambda e: re.escape(e["a"]),
 lambda e: e["a"].partition(e["b"]),
 lambda e: e["a"] < e["b"],
 lambda e: sorted([e["a"], e["b"], "m", "Z", "é"]),
 lambda e: int(e["f"]),
 lambda e: e["a"] * e["k"],
 lambda e: [c for c in e["a"]],
 lambda e: e["a"].startswith(e["b"], e["i"]),
 lambda e: e["a"].lstrip(e["b"]) + "|" + e["a"].rstrip(e["b"]),
 lambda e: abs(e["i"]) ^ e["j"] & 7 | e["k"],
 lambda e: "{0!r:>20}|{1:^9}".format(e["a"], e["b"]),
 lambda e: json.dumps(e["f"]),
 lambda e: str(json.loads(json.dumps([e["f"], e["a"], e["i"]]))),
]
def process_fn(example, idx):
    return {"id": example["id"], "r": repr(OPS[example["op"]](example))}
'''

ALPHABET = list("abcABC012 .,\t\n-_{}\\\"'%$") + ["é", "ß", "日", "🙂", "\u00a0", "\u2028", "ǆ", "ﬁ", "Σ", "ς", "\u0301", "½", "²", "٣", "\x1c", "ŉ", "\u200b", "ẞ", "ᾳ", "Å", "Ⅷ", "ª"]
ATOMS = ["a", "b", "[abc]", "[^a]", ".", r"\d", r"\w", r"\s", r"\S", r"\W", "^", "$", r"\b", "é", "0", "\\.", "[a-z]+", "[A-Z0-9]", "x*", "(?:ab|b)", "\\D+?", "\\{", "日", "[é日]", r"[\w.]+", r"\Z", r"\A"]
NUMBERS = [" 12 ", "1_000", "-7", "+3", "0x10", "1e3", "1.5", "inf", "nan", "", "٣٤", "1__0", " -0.0 ", "1e400", "1E-5", ".5", "5.", "--1", "0b1", "1 2", "９", "-inf", "Infinity", "1e", "_1", "007"]
JSON = ['{"a": 1, "a": 2}', "[1, 2.0, 1e2, -0, -0.0]", '"\\u00e9\\ud83d\\ude42"', "nul", "[1,]", '{"a": {"b": [null, true, false]}}', "01", '"a\tb"', "1.0", '  {"x" : "y"}  ', '"\\ud800"',
        "123456789012345678901234567890", "1e999", "[]", "{}", '"\\/"', "'a'", '{"é": "日"}', "-", "[1 2]", '""', '"\\x41"']
FLOATS = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 1e16, 1e15, 123456789.125, 1e-5, 0.0001, 1 / 3, 2 / 3, 1e22, 1e100, -1e-300, 2.675, 1.005, 0.1 + 0.2, 9007199254740993.0]


class Gen:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def text(self, most):
        return "".join(self.rng.choice(ALPHABET) for _ in range(self.rng.randrange(most)))

    def maybe(self, share, make):
        return make() if self.rng.random() < share else ""

    def spec(self):
        r = self.rng
        return (self.maybe(0.4, lambda: r.choice(["", "*", "x", "0", "é"]) + r.choice("<>^=")) + self.maybe(0.3, lambda: r.choice("+- ")) + self.maybe(0.15, lambda: "#")
                + self.maybe(0.3, lambda: "0") + self.maybe(0.6, lambda: str(r.randrange(1, 14))) + self.maybe(0.2, lambda: r.choice(",_"))
                + self.maybe(0.4, lambda: "." + str(r.randrange(9))) + self.maybe(0.8, lambda: r.choice("sdfFeEgGxXobc%n")))

    def percent(self):
        r = self.rng
        return "".join(r.sample("-+ #0", r.randrange(3))) + r.choice(["", str(r.randrange(1, 12))]) + r.choice(["", f".{r.randrange(6)}"]) + r.choice("sdifFeEgGxXorc")

    def pattern(self, depth=0):
        r, out = self.rng, ""
        for _ in range(r.randrange(1, 4)):
            if depth > 1 or r.random() < 0.75:
                atom = r.choice(ATOMS)
            else:
                self.groups = getattr(self, "groups", 0) + 1
                atom = "(" + r.choice(["", "?:", f"?P<n{self.groups}>"]) + self.pattern(depth + 1) + ")"
            if r.random() < 0.35 and atom not in ("^", "$", r"\b", r"\A", r"\Z") and atom[-1] not in "*+?":
                atom += r.choice(["*", "+", "?", "{1,2}", "*?", "+?", "??", "{2}"])
            out += atom
        flags = r.choice(["", "", "", "(?i)", "(?m)", "(?s)"]) if depth == 0 else ""
        return flags + out + (f"|{self.pattern(depth + 1)}" if r.random() < 0.15 and depth < 2 else "")

    def float(self):
        r = self.rng
        return r.choice(FLOATS + [r.uniform(-1e3, 1e3), r.uniform(-1, 1), r.randrange(10**6) / 1000, r.random() * 10 ** r.randrange(-20, 20)])

    def row(self, i, ops):
        r = self.rng
        return {"id": i, "op": r.randrange(ops), "a": self.text(9), "b": self.text(3), "i": r.randrange(-6, 12) if r.random() < 0.8 else r.randrange(-(10**6), 10**12),
                "j": r.randrange(-6, 14), "k": r.randrange(-3, 4), "f": self.float(), "spec": self.spec(), "pspec": self.percent(), "re": self.pattern(),
                "num": r.choice(NUMBERS), "js": r.choice(JSON)}


def python(fn, row):
    try:
        return fn(dict(row), 0)["r"]
    except Exception as e:  # noqa: BLE001, whatever it is, the row is to be rejected
        return e


def run(binary, script, rows, folder):
    """What map gives for each row, by id; and why it rejected others."""
    with open(os.path.join(folder, "ops.star"), "w") as f:
        f.write(script)
    with open(os.path.join(folder, "in.jsonl"), "w") as f:
        f.writelines(json.dumps(r) + "\n" for r in rows)
    rules = [r["id"] for r in json.loads(subprocess.run([binary, "list", "rules", "--json"], capture_output=True, check=True).stdout)]
    argv = [binary, "map", "ops.star", "--source", "in.jsonl", "--split", "train", "-o", "out", "-q", "--expects", ",".join(rules), "--max-rejects", "100%", "--rejects", "rejects.jsonl"]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    got = {r["id"]: r["r"] for r in pq.read_table(os.path.join(folder, "out", "train.parquet"), columns=["id", "r"]).to_pylist()}
    with open(os.path.join(folder, "rejects.jsonl")) as f:
        return got, {d["row"]: d["message"] for d in map(json.loads, f)}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("--cases", type=int, default=10000)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    warnings.simplefilter("ignore")
    names = {"json": json, "math": math, "re": re}
    exec(SCRIPT, names)
    gen = Gen(a.seed)
    rows = [gen.row(i, len(names["OPS"])) for i in range(a.cases)]
    with tempfile.TemporaryDirectory() as folder:
        got, rejected = run(os.path.abspath(a.binary), SCRIPT, rows, folder)
    count = {"equal": 0, "refused by both": 0, "refused": 0, "other": 0}
    lines = [x.strip() for x in SCRIPT.splitlines() if x.startswith(" lambda")]
    for i, row in enumerate(rows):
        want = python(names["process_fn"], row)
        if i not in got:
            assert i in rejected, f"row {i} is gone"
            count["refused by both" if isinstance(want, Exception) else "refused"] += 1
        elif got[i] == want:
            count["equal"] += 1
        else:
            count["other"] += 1
            print(f"{lines[row['op']]}\n  {got[i]}\n  Python: {want!r}\n  {row}", file=sys.stderr)
    print("map:", ", ".join(f"{n} {k}" for k, n in count.items()))
    sys.exit(count["other"] > 0 or count["equal"] < a.cases / 2)


if __name__ == "__main__":
    main()
