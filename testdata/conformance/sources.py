"""The raw dataset as different writers store it."""
import gzip
import os

import pyarrow as pa
import pyarrow.parquet as pq

RAW = pa.schema([("question", pa.string()), ("answer", pa.string())])


def table(problems):
    return pa.table([[q for q, _ in problems], [a for _, a in problems]], schema=RAW)


def _pyarrow(**options):
    def write(t, path):
        pq.write_table(t, path, **options)

    return write


def _hf(t, path):
    import datasets

    datasets.Dataset(t).to_parquet(path)


def _polars(t, path):
    import polars as pl

    pl.from_arrow(t).write_parquet(path, compression="zstd", row_group_size=2000)


def _duckdb(t, path):
    import duckdb

    con = duckdb.connect()
    con.register("t", t)
    con.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)")


def _pandas(t, path):
    t.to_pandas().to_parquet(path)


def _large(t, path):
    pq.write_table(t.cast(pa.schema([(f.name, pa.large_string()) for f in t.schema])), path)


PARQUET = {
    "pyarrow snappy": _pyarrow(),
    "pyarrow zstd, CRC, page index": _pyarrow(compression="zstd", write_page_checksum=True, write_page_index=True),
    "pyarrow row groups of 1000": _pyarrow(row_group_size=1000, compression="zstd"),
    "pyarrow v2 pages": _pyarrow(data_page_version="2.0", compression="zstd", data_page_size=16 << 10),
    "pyarrow plain, no statistics": _pyarrow(use_dictionary=False, write_statistics=False, compression="none"),
    "pyarrow gzip": _pyarrow(compression="gzip", row_group_size=3000),
    "pyarrow required columns": lambda t, p: pq.write_table(
        t.cast(pa.schema([pa.field(f.name, f.type, nullable=False) for f in t.schema])), p, compression="zstd"
    ),
    "pyarrow delta lengths": _pyarrow(use_dictionary=False, column_encoding="DELTA_LENGTH_BYTE_ARRAY", compression="zstd"),
    "pyarrow delta strings": _pyarrow(use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY", compression="zstd"),
    "large strings": _large,
    "HF datasets": _hf,
    "Polars": _polars,
    "DuckDB": _duckdb,
    "pandas": _pandas,
}


def write(kind, splits, folder):
    """Writes {split: problems} as the hub lays out a dataset, and returns the folder."""
    os.makedirs(folder)
    for split, problems in splits.items():
        PARQUET[kind](table(problems), os.path.join(folder, f"{split}-00000-of-00001.parquet"))
    return folder


def write_gz(files, folder):
    os.makedirs(folder)
    for path in files:
        with open(path, "rb") as f, gzip.open(os.path.join(folder, os.path.basename(path) + ".gz"), "wb", 1) as g:
            g.write(f.read())
    return folder
