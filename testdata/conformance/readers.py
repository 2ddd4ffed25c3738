"""The five readers that an output must suit, each as verl's users use it. A reader takes files and gives a pyarrow table."""
import itertools
import os
import shutil
import tempfile

CACHE = tempfile.mkdtemp(prefix="rlprep-hf-")
os.environ.update(HF_HOME=CACHE, HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")

import datasets  # noqa: E402  after HF_HOME
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

datasets.disable_progress_bars()
_fresh = itertools.count()


def close():
    shutil.rmtree(CACHE, ignore_errors=True)


def _load(files):
    """load_dataset with a cache that nobody used: two folders of the same name and one cache gave the first folder's rows."""
    cache = os.path.join(CACHE, str(next(_fresh)))
    return datasets.load_dataset("parquet", data_files=files, cache_dir=cache)["train"]


def plain(table):
    """Without schema metadata, in one chunk a column."""
    return table.replace_schema_metadata(None).combine_chunks()


def by_pyarrow(files):
    return pa.concat_tables([plain(pq.read_table(f, page_checksum_verification=True)) for f in files], promote_options="permissive")


def hf(files):
    """As verl's RLHFDataset: each file alone, then concatenated, which wants equal features."""
    return datasets.concatenate_datasets([_load(f) for f in files])


def by_hf(files):
    return hf(files).with_format("arrow")[:]


def by_hf_glob(pattern):
    return _load(pattern).with_format("arrow")[:]


def by_pandas(files):
    return pd.concat([pd.read_parquet(f) for f in files], ignore_index=True)


def by_polars(files):
    return pl.read_parquet(files, hive_partitioning=False)


def by_duckdb(files):
    return duckdb.connect().read_parquet(files)


def rows_of(reader, files):
    """Python rows as each reader itself gives them."""
    if reader == "pyarrow":
        return by_pyarrow(files).to_pylist()
    if reader == "HF datasets":
        return hf(files).to_list()
    if reader == "pandas":
        return [{k: _unarray(v) for k, v in r.items()} for r in by_pandas(files).to_dict("records")]
    if reader == "Polars":
        return by_polars(files).to_dicts()
    relation = by_duckdb(files)
    return [dict(zip(relation.columns, r)) for r in relation.fetchall()]


def _unarray(v):
    if isinstance(v, np.ndarray):
        return [_unarray(x) for x in v]
    if isinstance(v, dict):
        return {k: _unarray(x) for k, x in v.items()}
    return v.item() if isinstance(v, np.generic) else v


def table_of(reader, files, schema):
    """A table of the schema, from what the reader gives. Only Arrow's own spellings of a type are cast (string_view, list
    element names); a reader that saw another type does not compare equal."""
    if reader == "pyarrow":
        got = by_pyarrow(files)
    elif reader == "HF datasets":
        got = by_hf(files)
    elif reader == "HF datasets, glob":
        got = by_hf_glob(files)
    elif reader == "pandas":
        return pa.Table.from_pandas(by_pandas(files), schema=schema, preserve_index=False).replace_schema_metadata(None)
    elif reader == "Polars":
        got = by_polars(files).to_arrow()
    else:
        got = by_duckdb(files).to_arrow_table()
    if got.schema.names != schema.names:
        raise ValueError(f"columns {got.schema.names}")
    for have, want in zip(got.schema, schema):
        if spelling(have.type) != spelling(want.type):
            raise ValueError(f"column {have.name} is {have.type}")
    return plain(got).cast(schema)


def spelling(t):
    """A type as text, blind to what readers spell differently: large and view strings, list element names, nullability."""
    if pa.types.is_struct(t):
        return "{" + ",".join(f"{f.name}:{spelling(f.type)}" for f in t) + "}"
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_list_view(t):
        return "[" + spelling(t.value_type) + "]"
    if pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return "string"
    return str(t)


READERS = ["pyarrow", "HF datasets", "pandas", "Polars", "DuckDB"]
