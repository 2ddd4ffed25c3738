"""Writes the small files that cmd/rlprep/damage_test.go damages: python testdata/conformance/seeds.py. They are committed.

raw-*.parquet hold problems (question, answer), verl-*.parquet gsm8k rows; a name with -crc- has a checksum on every page.
"""
import os
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import conform
import reference
import sources

OUT = os.path.join(conform.ROOT, "testdata", "parquet", "damage")

CRC = {"write_page_checksum": True, "write_page_index": True}
PYARROW = {
    "crc-zstd": CRC | {"compression": "zstd", "row_group_size": 120},
    "crc-snappy-v2": CRC | {"compression": "snappy", "data_page_version": "2.0", "data_page_size": 2048, "write_batch_size": 16},
    "crc-none-plain": CRC | {"compression": "none", "use_dictionary": False, "data_page_size": 4096, "write_batch_size": 16},
    "zstd": {"compression": "zstd", "data_page_size": 2048, "write_batch_size": 16},
    "delta": {"compression": "none", "use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
}


def problems():
    """The sample's problems three times over, made unique by their number."""
    few = reference.problems(os.path.join(conform.ROOT, "testdata", "sample", "train.jsonl"))
    return [(f"{q} [{k}]", a) for k in range(3) for q, a in few]


def main():
    os.makedirs(OUT, exist_ok=True)
    raw = sources.table(problems())
    verl = reference.table("gsm8k", "train", problems())
    for kind, table in (("raw", raw), ("verl", verl)):
        for name, options in PYARROW.items():
            if kind == "verl" and name == "delta":
                continue
            pq.write_table(table, os.path.join(OUT, f"{kind}-{name}.parquet"), **options)
        pl.from_arrow(table).write_parquet(os.path.join(OUT, f"{kind}-polars.parquet"), compression="zstd")
        conform._duckdb(table, os.path.join(OUT, f"{kind}-duckdb.parquet"))


if __name__ == "__main__":
    main()
