"""Random regular expressions by map, against this Python's re: all functions of re, with flags, groups, spans and replacements.

Usage: regexps.py RLPREP [--cases N] [--seed S]. Python must be 3.11 or 3.12: in later ones some patterns mean something else. The patterns
are those of internal/pyre/testdata/patterns.py. Where map gives a value it must be Python's; where Python refuses a pattern or a replacement,
map must too. What map alone refuses is counted by its message.
"""
import argparse
import collections
import os
import re
import signal
import sys
import tempfile
import warnings

import map as maps

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "internal", "pyre", "testdata"))
import patterns  # noqa: E402

SCRIPT = r'''
def found(m):
    if m == None:
        return None
    return (m.span(), m.group(), m.groups(), m.groupdict(), [m.span(i + 1) for i in range(len(m.groups()))])

OPS = {
    "search": lambda e: found(re.search(e["p"], e["s"], e["f"])),
    "match": lambda e: found(re.match(e["p"], e["s"], e["f"])),
    "fullmatch": lambda e: found(re.fullmatch(e["p"], e["s"], e["f"])),
    "findall": lambda e: re.findall(e["p"], e["s"], e["f"]),
    "finditer": lambda e: [found(m) for m in re.finditer(e["p"], e["s"], e["f"])],
    "split": lambda e: re.split(e["p"], e["s"], e["n"], e["f"]),
    "sub": lambda e: re.sub(e["p"], e["r"], e["s"], e["n"], e["f"]),
    "subn": lambda e: re.subn(e["p"], e["r"], e["s"], e["n"], e["f"]),
    "function": lambda e: re.sub(e["p"], lambda m: "<" + m.group() + ">", e["s"], count=e["n"], flags=e["f"]),
    "compile": lambda e: re.compile(e["p"], e["f"]).findall(e["s"]),
    "escape": lambda e: re.search(re.escape(e["s"]), e["s"] * 2).span(),
}

def process_fn(example, idx):
    return {"id": example["id"], "r": repr(OPS[example["op"]](example))}
'''

REPLACEMENTS = ["", "-", r"\g<0>", r"<\1>", r"\2\1", r"\g<n1>", r"\n\\\t", r"\061", r"\0", r"\101", r"\08", r"\99", r"\q", r"\.", r"\é", "\\", r"\g<1", r"\g<>", r"\g<00>"]


class TooSlow(Exception):
    pass


def too_slow(*_):
    raise TooSlow


def python(fn, row):
    """What Python gives, an exception where it gives none, and TooSlow where it takes long."""
    try:
        signal.setitimer(signal.ITIMER_REAL, patterns.LIMIT)
        try:
            return fn(dict(row), 0)["r"]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Exception as e:  # noqa: BLE001
        return e


def cases(fn, count, seed):
    """Rows and what Python gives for them, without those that Python takes long for."""
    rng = patterns.random.Random(seed)
    make = patterns.Patterns(rng)
    ops = [line.split('"')[1] for line in SCRIPT.splitlines() if line.startswith('    "')]
    hand = [(p, int(f), s, op) for p, f, s in patterns.HAND for op in ops]
    for i in range(count):
        p, f, s, op = hand[i] if i < len(hand) else (make.pattern(), make.flags(), make.text(), rng.choice(ops))
        row = {"id": i, "p": p, "f": f, "s": s, "op": op, "r": rng.choice(REPLACEMENTS), "n": rng.choice([0, 0, 0, 1, 2, -1])}
        want = python(fn, row)
        if not isinstance(want, TooSlow):
            yield row, want


def reason(message):
    message = re.sub(r'^.*?pattern ".*?(?<!\\\\)": ', "", message, flags=re.S)
    return re.sub(r"\d+|'.*'", "…", message)[:70]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("--cases", type=int, default=10000)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    if sys.version_info[:2] not in ((3, 11), (3, 12)):
        print(f"regexps: SKIPPED: Python is {sys.version_info[0]}.{sys.version_info[1]}, expected 3.11 or 3.12", file=sys.stderr)
        return
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_slow)
    names = {"re": re}
    exec(SCRIPT, names)
    all_cases = list(cases(names["process_fn"], a.cases, a.seed))
    with tempfile.TemporaryDirectory() as folder:
        got, rejected = maps.run(os.path.abspath(a.binary), SCRIPT, [row for row, _ in all_cases], folder)
    count, alone = collections.Counter(), collections.Counter()
    for i, (row, want) in enumerate(all_cases):
        if row["id"] in got:
            kind = "equal" if got[row["id"]] == want else "DIFFERENT"
        else:
            kind = "refused by both" if isinstance(want, Exception) else "refused"
            if kind == "refused":
                alone[reason(rejected[i])] += 1
        count[kind] += 1
        if kind == "DIFFERENT":
            print(f"{row}\n  {got[row['id']]}\n  Python: {want!r}", file=sys.stderr)
    print("regexps:", ", ".join(f"{n} {k}" for k, n in count.most_common()), dict(alone.most_common()))
    sys.exit(count["DIFFERENT"] > 0 or count["equal"] < a.cases / 2)


if __name__ == "__main__":
    main()
