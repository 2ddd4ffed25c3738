#!/usr/bin/env python3
"""Writes the Parquet files of this directory, by other writers than ours, and what pyarrow reads in them.

    python make.py          needs pyarrow, pandas, polars, duckdb, datasets, fastparquet

schemas.json has the schema of each as pyarrow prints it, so that the tests need no Python. Every file is small; what it is
about stands in its name.
"""
import datetime, decimal, glob, json, math, os, uuid

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
N = 200


def path(name):
    return os.path.join(HERE, name + ".parquet")


def chats(n):
    out = []
    for i in range(n):
        if i % 17 == 3:
            out.append(None)
        elif i % 13 == 5:
            out.append([])
        else:
            out.append([{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"What is {i} + {i % 7}?"}][i % 2:])
    return out


def infos(n):
    return [None if i % 11 == 4 else {"split": "train", "index": i, "answer": f"#### {2 * i}" if i % 5 else None,
                                      "tools_kwargs": None if i % 3 == 0 else {"calc": {"ground_truth": str(i)}}} for i in range(n)]


CHAT = pa.list_(pa.field("element", pa.struct([("role", pa.string()), ("content", pa.string())])))
INFO = pa.struct([("split", pa.string()), ("index", pa.int64()), ("answer", pa.string()),
                  ("tools_kwargs", pa.struct([("calc", pa.struct([("ground_truth", pa.string())]))]))])


def table(n=N):
    return pa.table({
        "data_source": pa.array(["openai/gsm8k"] * n),
        "prompt": pa.array(chats(n), CHAT),
        "extra_info": pa.array(infos(n), INFO),
        "score": pa.array([None if i % 9 == 2 else i / 7 for i in range(n)], pa.float64()),
        "ok": pa.array([None if i % 8 == 1 else i % 3 == 0 for i in range(n)], pa.bool_()),
        "id": pa.array(range(n), pa.int64()),
        "text": pa.array([f"row {i} " + "xyz"[i % 3] * (i % 20) for i in range(n)]),
    })


def by_pyarrow():
    for codec in ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]:
        for version in ["1.0", "2.0"]:
            pq.write_table(table(60), path(f"pyarrow-v{version[0]}-{codec}"), compression=codec, data_page_version=version,
                           row_group_size=40, data_page_size=200, write_batch_size=8, write_page_index=version == "2.0", write_page_checksum=codec == "zstd")
    pq.write_table(table(), path("pyarrow-plain"), use_dictionary=False, compression="none", row_group_size=70)
    pq.write_table(table(), path("pyarrow-page-index"), write_page_index=True, data_page_size=300, write_batch_size=8,
                   row_group_size=64)
    pq.write_table(table(), path("pyarrow-no-statistics"), write_statistics=False)
    pq.write_table(table(), path("pyarrow-no-arrow-schema"), store_schema=False)
    pq.write_table(table(30), path("pyarrow-many-groups"), row_group_size=3, compression="zstd")
    pq.write_table(table(), path("pyarrow-sorted"), sorting_columns=[pq.SortingColumn(5), pq.SortingColumn(0, True)], store_schema=True)
    pq.write_table(table(), path("pyarrow-bloom"), bloom_filter_options={"text": {"ndv": 400, "fpp": 0.05}, "id": {"ndv": 400, "fpp": 0.05}})
    pq.write_table(table(0), path("pyarrow-empty"))
    pq.write_table(pa.table({"deep": pa.array([[[1, None], []], None, [], [None, [3]]] * 10, pa.list_(pa.list_(pa.int32()))),
                             "m": pa.array([[("a", 1), ("b", None)], None, [], [("c", 3)]] * 10, pa.map_(pa.string(), pa.int64()))}),
                   path("pyarrow-nested"))
    pq.write_table(pa.table({"a": pa.array([1, 2, 3], pa.int64()), "required": pa.array(["x", "y", "z"])},
                            schema=pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("required", pa.string(), nullable=False)])),
                   path("pyarrow-required"))


def types():
    d = datetime.datetime(2024, 2, 29, 12, 30, 5, 123456)
    n = 8
    cols = {
        "i8": pa.array([-1, None] * 4, pa.int8()), "u8": pa.array([255, 0] * 4, pa.uint8()), "i16": pa.array([-300] * n, pa.int16()),
        "u16": pa.array([65535] * n, pa.uint16()), "i32": pa.array([None, 7] * 4, pa.int32()), "u32": pa.array([4294967295] * n, pa.uint32()),
        "u64": pa.array([18446744073709551615] * n, pa.uint64()), "f16": pa.array([1.5, None] * 4, pa.float16()), "f32": pa.array([0.25] * n, pa.float32()),
        "nan": pa.array([math.nan, 1.0] * 4), "date": pa.array([d.date(), None] * 4), "date64": pa.array([d.date()] * n, pa.date64()),
        "t_s": pa.array([d.time().replace(microsecond=0)] * n, pa.time32("s")), "t_ms": pa.array([d.time().replace(microsecond=0)] * n, pa.time32("ms")),
        "t_us": pa.array([d.time()] * n, pa.time64("us")), "t_ns": pa.array([d.time()] * n, pa.time64("ns")),
        "ts_s": pa.array([d.replace(microsecond=0)] * n, pa.timestamp("s")), "ts_ms": pa.array([d.replace(microsecond=0)] * n, pa.timestamp("ms")),
        "ts_us": pa.array([d, None] * 4, pa.timestamp("us")), "ts_ns": pa.array([d] * n, pa.timestamp("ns")),
        "ts_utc": pa.array([d] * n, pa.timestamp("us", "UTC")), "ts_ny": pa.array([d] * n, pa.timestamp("us", "America/New_York")),
        "dur": pa.array([datetime.timedelta(seconds=3)] * n, pa.duration("us")), "dec": pa.array([decimal.Decimal("12.34"), None] * 4, pa.decimal128(10, 2)),
        "dec256": pa.array([decimal.Decimal("1.5")] * n, pa.decimal256(50, 1)), "bin": pa.array([b"\xff\x00", None] * 4), "fsb": pa.array([b"abcd"] * n, pa.binary(4)),
        "lstr": pa.array(["long", None] * 4, pa.large_string()), "lbin": pa.array([b"long"] * n, pa.large_binary()), "strv": pa.array(["view"] * n, pa.string_view()),
        "binv": pa.array([b"view"] * n, pa.binary_view()), "null": pa.nulls(n), "cat": pa.array(["a", "b", None, "a"] * 2).dictionary_encode(),
        "llist": pa.array([[1], None] * 4, pa.large_list(pa.int64())), "flist": pa.array([[1.0, 2.0]] * n, pa.list_(pa.float32(), 2)),
        "lst_ny": pa.array([[d]] * n, pa.list_(pa.timestamp("us", "America/New_York"))),
        "st_cat": pa.array([{"c": "a"}, {"c": "b"}] * 4, pa.struct([("c", pa.large_string())])),
    }
    pq.write_table(pa.table(cols), path("pyarrow-types"))
    pq.write_table(pa.table(cols), path("pyarrow-types-no-arrow-schema"), store_schema=False)
    pq.write_table(pa.table({"u": pa.array([uuid.UUID(int=7).bytes], pa.binary(16)).cast(pa.uuid()) if hasattr(pa, "uuid") else pa.array([b"x" * 16]),
                             "j": pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(['{"a": 1}']))}), path("pyarrow-extension"))
    pq.write_table(pa.table({"ts": cols["ts_ns"]}), path("pyarrow-int96"), use_deprecated_int96_timestamps=True, store_schema=False)


def item_lists():
    """List elements named "item", as Arrow wrote them for years."""
    pq.write_table(table(40), path("pyarrow-item-lists"), use_compliant_nested_type=False)


def by_pandas():
    df = pd.DataFrame({"x": [1, 2, 3], "y": ["a", None, "c"], "c": pd.Categorical(["u", "v", "u"]), "when": pd.to_datetime(["2024-01-01"] * 3)})
    df.to_parquet(path("pandas-range-index"))
    df.index = pd.Index(["i", "j", "k"], name="key")
    df.to_parquet(path("pandas-index"))


def by_polars():
    t = pl.from_arrow(table(80))
    t.write_parquet(path("polars"), compression="zstd", row_group_size=30, statistics="full")
    t.with_columns(pl.col("text").cast(pl.Categorical)).write_parquet(path("polars-categorical"), compression="snappy")


def by_duckdb():
    t = table(80)
    duckdb.sql(f"copy (select * from t) to '{path('duckdb')}' (format parquet, codec zstd, row_group_size 2048)")
    duckdb.sql(f"copy (select * from t) to '{path('duckdb-v2')}' (format parquet, codec snappy, parquet_version v2)")
    duckdb.sql("create table strings as select case when i % 2 = 0 then null else 's' || i end as s, i from range(10) r(i)")
    duckdb.sql(f"copy strings to '{path('duckdb-nulls')}' (format parquet)")


def by_datasets():
    F, V, L = datasets.Features, datasets.Value, datasets.List
    t = table(40)
    datasets.Dataset(t).to_parquet(path("datasets"))
    f = F({"question": V("string"), "label": datasets.ClassLabel(names=["no", "yes"]), "images": L(datasets.Image()),
           "prompt": L({"role": V("string"), "content": V("string")}), "extra": {"index": V("int64"), "meta": datasets.Json()}})
    rows = {"question": ["a", "b"], "label": [0, 1], "images": [[], []], "prompt": [[{"role": "user", "content": "x"}]] * 2,
            "extra": [{"index": 0, "meta": {"k": 1}}, {"index": 1, "meta": {"k": "v"}}]}
    datasets.Dataset.from_dict(rows, features=f).to_parquet(path("datasets-features"))


def by_fastparquet():
    import fastparquet
    fastparquet.write(path("fastparquet"), pd.DataFrame({"a": list(range(20)), "s": ["x", None] * 10}), stats=True)


def expect(file):
    t = pq.ParquetFile(file)
    return {"schema": [f"{f.name}: {f.type}{'' if f.nullable else ' not null'}" for f in t.schema_arrow],
            "rows": t.metadata.num_rows, "row_groups": t.metadata.num_row_groups}


if __name__ == "__main__":
    for old in glob.glob(os.path.join(HERE, "*.parquet")):
        os.remove(old)
    for make in [by_pyarrow, types, item_lists, by_pandas, by_polars, by_duckdb, by_datasets, by_fastparquet]:
        make()
    files = sorted(glob.glob(os.path.join(HERE, "*.parquet")))
    for file in files:
        assert os.path.getsize(file) < 32768, (file, os.path.getsize(file))
    with open(os.path.join(HERE, "schemas.json"), "w") as out:
        json.dump({os.path.basename(f): expect(f) for f in files}, out, indent=1)
        out.write("\n")
