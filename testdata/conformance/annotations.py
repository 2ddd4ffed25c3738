"""Schemas with every annotation on every physical type and on groups: rlprep reads the type that pyarrow reads, or both refuse.

Usage: annotations.py RLPREP [--all]. The files have a footer alone. Every seventh is compared, with --all each of the more than 5,000.
"""
import argparse
import collections
import concurrent.futures
import io
import json
import os
import re
import struct
import subprocess
import tempfile

import pyarrow.parquet as pq

# What rlprep refuses and pyarrow 26 reads.
KNOWN = re.compile(r"TIMESTAMP and has values of 12 bytes")


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def zigzag(n):
    return varint(2 * n if n >= 0 else -2 * n - 1)


class Struct:
    """A struct in Thrift's compact protocol."""

    def __init__(self):
        self.b, self.last = b"", 0

    def raw(self, number, kind, value=b""):
        by = number - self.last
        self.b += (bytes([by << 4 | kind]) if 0 < by < 16 else bytes([kind]) + zigzag(number)) + value
        self.last = number
        return self

    def i32(self, number, value):
        return self if value is None else self.raw(number, 5, zigzag(value))

    def text(self, number, value):
        return self.raw(number, 8, varint(len(value)) + value.encode())

    def stop(self):
        return self.b + b"\0"


def structs(items):
    return (bytes([len(items) << 4 | 12]) if len(items) < 15 else b"\xfc" + varint(len(items))) + b"".join(items)


def element(name, physical=None, length=None, rep=1, children=None, converted=None, scale=None, precision=None, logical=None):
    s = Struct().i32(1, physical).i32(2, length).i32(3, rep).text(4, name).i32(5, children).i32(6, converted).i32(7, scale).i32(8, precision)
    return (s if logical is None else s.raw(10, 12, logical)).stop()


def file_of(elements):
    footer = Struct().i32(1, 2).raw(2, 9, structs(elements)).raw(3, 6, zigzag(0)).raw(4, 9, structs([])).stop()
    return b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"


def member(number, body=b"\0"):
    return Struct().raw(number, 12, body).stop()


def decimal(precision, scale):
    return member(5, Struct().i32(1, scale).i32(2, precision).stop())


def timed(number, utc, unit):
    s = Struct() if utc is None else Struct().raw(1, 1 if utc else 2)
    return member(number, (s if unit is None else s.raw(2, 12, member(unit) if unit else b"\0")).stop())


def integer(bits, signed):
    s = Struct() if bits is None else Struct().raw(1, 3, bytes([bits & 255]))
    return member(10, (s if signed is None else s.raw(2, 1 if signed else 2)).stop())


DIGITS = [(4, 2), (1, 0), (9, 2), (10, 2), (18, 2), (19, 2), (38, 2), (39, 2), (76, 2), (77, 2), (4, 5), (4, -1), (4, 4), (0, 0), (-1, 0), (4, None), (None, 2),
          (5, 2), (28, 2), (29, 2)]


def logicals():
    """Every logical type, by name."""
    out = {"none": None, "empty": b"\0"}
    for number in [1, 2, 3, 4, 6, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19]:
        out[f"logical {number}"] = member(number)
    for precision, scale in DIGITS:
        out[f"decimal({precision}, {scale})"] = decimal(precision, scale)
    for number in (7, 8):
        for unit in (1, 2, 3, 4, 0, None):
            out[f"logical {number} unit {unit}"] = timed(number, True, unit)
        out[f"logical {number} without utc"] = timed(number, None, 1)
    for bits in (8, 16, 32, 64, 7, 0, -8, None):
        for signed in (True, False, None):
            out[f"int({bits}, {signed})"] = integer(bits, signed)
    return out


def leaves():
    root = element("schema", rep=None, children=1)
    for physical, length in [(0, None), (1, None), (2, None), (3, None), (4, None), (5, None), (6, None), (7, 2), (7, 4), (7, 12), (7, 16)]:
        on = f"type {physical}({length})"
        for name, logical in logicals().items():
            yield f"{on} {name}", [root, element("c", physical, length, logical=logical)]
        for converted in range(-1, 24):
            yield f"{on} converted {converted}", [root, element("c", physical, length, converted=converted)]
            yield f"{on} converted {converted}, text", [root, element("c", physical, length, converted=converted, logical=member(1))]
            yield f"{on} converted {converted}, empty", [root, element("c", physical, length, converted=converted, logical=b"\0")]
        for precision, scale in DIGITS:
            yield f"{on} converted decimal({precision}, {scale})", [root, element("c", physical, length, converted=5, precision=precision, scale=scale)]


def groups():
    root = element("schema", rep=None, children=1)
    a, b, key = element("a", 1), element("b", 1), element("k", 1, rep=0)
    below = {
        "struct": (1, [a]), "struct of two": (2, [a, b]), "repeated": (1, [element("array", 1, rep=2)]),
        "list": (1, [element("list", rep=2, children=1), a]), "list of optional": (1, [element("list", rep=1, children=1), a]),
        "list of two": (1, [element("list", rep=2, children=2), a, b]), "list of repeated": (1, [element("list", rep=2, children=1), element("a", 1, rep=2)]),
        "map": (1, [element("key_value", rep=2, children=2), key, b]), "map of optional": (1, [element("key_value", rep=2, children=2), a, b]),
        "set": (1, [element("key_value", rep=2, children=1), key]), "map of three": (1, [element("key_value", rep=2, children=3), key, a, b]),
    }
    for shape, (children, elements) in below.items():
        for rep in (0, 1, 2):
            for name, logical in logicals().items():
                yield f"{shape} rep {rep} {name}", [root, element("g", rep=rep, children=children, logical=logical)] + elements
            for converted in range(-1, 24):
                yield f"{shape} rep {rep} converted {converted}", [root, element("g", rep=rep, children=children, converted=converted)] + elements
        for outer in (1, 2, 3, None):
            for middle in (1, 2, 3, None):
                for rep in (1, 2):
                    yield f"{shape} in {outer}, {middle}, rep {rep}", [
                        root, element("g", rep=1, children=1, converted=outer), element("mid", rep=rep, children=children, converted=middle)] + elements
    for name, logical in logicals().items():
        for outer in ({"logical": member(3)}, {"converted": 3}):
            for field in ("list", "array"):
                yield f"{field} that is {name} in {outer}", [
                    root, element("g", rep=1, children=1, **outer), element(field, rep=2, children=1, logical=logical), a]
        yield f"root {name}", [element("schema", rep=None, children=1, logical=logical), a]
    for converted in range(-1, 24):
        yield f"root converted {converted}", [element("schema", rep=None, children=1, converted=converted), a]


def theirs(data):
    try:
        return ", ".join(map(str, pq.ParquetFile(io.BytesIO(data)).read().schema.types)), ""
    except Exception as e:  # pyarrow has no one error for damage
        return None, str(e).split("\n")[0]


def ours(rlprep, path):
    r = subprocess.run([rlprep, "inspect", "--rows", "0", "--json", path], capture_output=True, text=True, timeout=300)
    if r.returncode == 0:
        return ", ".join(f["type"] for f in json.loads(r.stdout)[0]["schema"]), ""
    if r.returncode != 3 or os.path.basename(path) not in r.stderr:
        raise AssertionError(f"{path}: exit {r.returncode}: {r.stderr[:500]}")
    return None, r.stderr.strip()


def spelled(t):
    return re.sub(r" \('\w+'\)", "", t.replace("extension<arrow.json>", "string"))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("rlprep")
    args.add_argument("--all", action="store_true")
    args = args.parse_args()
    rlprep, ends, wrong = os.path.abspath(args.rlprep), collections.Counter(), []
    cases = (list(leaves()) + list(groups()))[:: 1 if args.all else 7]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:

        def one(numbered):
            number, (name, elements) = numbered
            path = os.path.join(folder, f"{number}.parquet")
            with open(path, "wb") as f:
                f.write(file_of(elements))
            return name, theirs(file_of(elements)), ours(rlprep, path)

        for name, (want, refused), (got, said) in pool.map(one, enumerate(cases)):
            if (want is None) != (got is None):
                ends["known" if KNOWN.search(said) else "one refuses"] += 1
            else:
                ends["both refuse" if want is None else "both read"] += 1
            if (want is None) != (got is None) and not KNOWN.search(said) or want and got and spelled(want) != spelled(got):
                wrong.append(f"{name}: rlprep {got or said}; pyarrow {want or refused}")
    for line in wrong:
        print("WRONG " + line)
    print(f"{len(cases)} annotations: " + ", ".join(f"{n} {k}" for k, n in sorted(ends.items())) + f"; {len(wrong)} wrong")
    if wrong or not ends["both read"] or not ends["both refuse"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
