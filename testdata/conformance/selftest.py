"""The harness must be able to fail: good files pass, and each way to be wrong is found. Run before conform.py by run.sh."""
import os
import struct
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq

import conform
import footer
import readers
import reference
import standin

PROBLEMS = [(f"What is {i} and {i}?", f"It is {i} + {i} = <<{i}+{i}={2 * i}>>{2 * i}.\n#### {2 * i}") for i in range(400)]
RECIPE = "gsm8k_tool_agent_loop"
WANT = reference.table(RECIPE, "train", PROBLEMS)


def findings(path, want=WANT, codec="zstd", copied=()):
    """Everything that the checks of one file say."""
    out = []
    for f in (
        lambda: conform.footer_check(path, codec, copied),
        lambda: footer.check_values(path),
        lambda: conform.same_types(path, want.schema),
        lambda: conform.look_up([path], want),
    ):
        try:
            out += list(f() or [])
        except Exception as e:
            out.append(f"{type(e).__name__}: {e}")
    for reader in readers.READERS:
        try:
            bad = conform.differs(readers.table_of(reader, [path], want.schema), want)
            out += [f"{reader}: {bad}"] if bad else []
        except Exception as e:
            out.append(f"{reader}: {type(e).__name__}: {e}")
    return out


def edited(path, edit):
    with open(path, "rb") as f:
        buf = bytearray(f.read())
    edit(buf)
    with open(path, "wb") as f:
        f.write(buf)


def flip(path, where):
    """Flips one bit of a page body."""
    buf, foot = footer.read(path)
    meta = foot[4][0][1][where][3]
    pos, head, length = list(footer.pages(buf, meta))[-1]
    edited(path, lambda b: b.__setitem__(pos + length + head[3] // 2, b[pos + length + head[3] // 2] ^ 4))


def wrong_null_count(path):
    """The trap of footers rewritten with loss: a null_count that was not there is 0 afterwards."""
    buf, foot = footer.read(path)
    n = struct.unpack("<I", buf[-8:-4])[0]
    stats = bytes([0x36, 2 * 3])  # field 3 of Statistics, an i64 of 3: found by its neighbours below
    at = [i for i in range(len(buf) - 8 - n, len(buf) - 8) if buf[i : i + 2] == stats]
    if not at:
        raise ValueError("no null_count of 3")
    edited(path, lambda b: [b.__setitem__(i + 1, 0) for i in at])


def cases(folder):
    """(what is wrong, file, table wanted, word that a finding must hold); no word: nothing may be found."""
    rows = WANT.to_pylist()

    def path(name):
        return os.path.join(folder, name.replace(" ", "-") + ".parquet")

    def wrote(name, table=WANT, **more):
        standin.write(table, path(name), **more)
        return path(name)

    yield "a good file", wrote("good"), WANT, None
    yield "small row groups", wrote("groups", row_group_size=50), WANT, None
    yield "v2 pages", wrote("v2", data_page_version="2.0", data_page_size=2 << 10), WANT, None
    required = pa.schema([f.with_nullable(f.name != "extra_info") for f in WANT.schema])
    yield "extra_info required", wrote("required", WANT.cast(required)), WANT, None

    pq.write_table(WANT, path("no-crc"), compression="zstd", write_page_index=True)
    yield "no CRC", path("no-crc"), WANT, "no CRC"
    pq.write_table(WANT, path("no-index"), compression="zstd", write_page_checksum=True)
    yield "no page index", path("no-index"), WANT, "no page index"
    flip(wrote("flipped"), 5)
    yield "a flipped bit", path("flipped"), WANT, "CRC"
    yield "another codec", wrote("codec", codec="snappy"), WANT, "compressed by snappy"
    with pq.ParquetWriter(path("empty"), WANT.schema, compression="zstd", write_page_index=True, write_page_checksum=True) as w:
        w.write_table(WANT.slice(0, 0))
        w.write_table(WANT)
    yield "an empty row group", path("empty"), WANT, "is empty"
    large = pa.schema([pa.field("data_source", pa.large_string())] + list(WANT.schema)[1:])
    yield "a large string", wrote("large", WANT.cast(large)), WANT, "large_string"
    yield "a missing row", wrote("row", WANT.slice(0, 399)), WANT, "399 rows"
    rows[300]["extra_info"]["index"] = 7
    yield "a wrong index", wrote("index", pa.Table.from_pylist(rows, WANT.schema)), WANT, "row 300"
    rows[300]["extra_info"]["index"] = 300
    rows[399]["prompt"][1]["content"] += " "
    yield "a wrong blank", wrote("blank", pa.Table.from_pylist(rows, WANT.schema)), WANT, "row 399"
    yield "other column order", wrote("order", WANT.select(WANT.column_names[::-1])), WANT, "columns"
    sorted_ = pa.Table.from_pylist([r | {"reward_model": dict(sorted(r["reward_model"].items()))} for r in WANT.to_pylist()])
    yield "other field order", wrote("fields", sorted_), WANT, "reward_model is"
    features = b'{"info": {"features": {"question": {"dtype": "string", "_type": "Value"}}}}'
    yield "stale huggingface metadata", wrote("hf", WANT.replace_schema_metadata({"huggingface": features})), WANT, "huggingface metadata"
    nulls = WANT.set_column(3, "ability", pa.array([None if i in (5, 9, 11) else "math" for i in range(400)], pa.string()))
    yield "true nulls", wrote("nulls", nulls), nulls, None
    wrong_null_count(wrote("nullcount", nulls))
    yield "a null_count of 0 for 3", path("nullcount"), nulls, "null"


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="rlprep-selftest-") as folder:
        for what, path, want, word in cases(folder):
            found = findings(path, want)
            good = any(word in f for f in found) if word else not found
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAIL harness: {what}: wanted {word!r}, found {[f[:200] for f in found]}")
    readers.close()
    print(f"harness: {passed} of {passed + failed} as wanted")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
