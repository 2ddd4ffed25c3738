"""The other tools' side of each benchmark job, one process a run: jobs.py JOB IN OUT. A job prints the seconds of its own
statement, so that Python's start and imports are not held against it."""
import os
import sys
import time


def timed(f):
    start = time.perf_counter()
    f()
    print(f"seconds {time.perf_counter() - start:.4f}")


SUFFIX = ' Let\'s think step by step and output the final answer after "####".'

GSM8K = """
COPY (
  SELECT 'openai/gsm8k' AS data_source,
         [{{'role': 'user', 'content': question || '{suffix}'}}] AS prompt,
         'math' AS ability,
         {{'style': 'rule', 'ground_truth': replace(regexp_extract(answer, '#### (-?[0-9.,]+)', 1), ',', '')}} AS reward_model,
         {{'split': 'train', 'index': file_row_number::BIGINT, 'answer': answer, 'question': question}} AS extra_info
  FROM read_parquet('{source}', file_row_number = true)
) TO '{out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)
"""


def connect():
    import duckdb

    con = duckdb.connect()
    con.execute("SET threads = 2")
    return con


def duckdb_gsm8k(source, out):
    con = connect()
    timed(lambda: con.execute(GSM8K.format(suffix=SUFFIX.replace("'", "''"), source=source, out=out)))


def polars_gsm8k(source, out):
    import polars as pl

    q, a = pl.col("question"), pl.col("answer")
    truth = a.str.extract(r"#### (-?[0-9.,]+)", 1).str.replace_all(",", "", literal=True)
    rows = pl.scan_parquet(source, row_index_name="i").select(
        data_source=pl.lit("openai/gsm8k"),
        prompt=pl.concat_list(pl.struct(role=pl.lit("user"), content=q + SUFFIX)),
        ability=pl.lit("math"),
        reward_model=pl.struct(style=pl.lit("rule"), ground_truth=truth),
        extra_info=pl.struct(split=pl.lit("train"), index=pl.col("i").cast(pl.Int64), answer=a, question=q),
    )
    timed(lambda: rows.sink_parquet(out, compression="zstd", compression_level=1))


def duckdb_add(source, out):
    con = connect()
    sql = f"COPY (SELECT *, 'tool_agent' AS agent_name FROM read_parquet('{source}')) TO '{out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"
    timed(lambda: con.execute(sql))


def polars_add(source, out):
    import polars as pl

    rows = pl.scan_parquet(source).with_columns(agent_name=pl.lit("tool_agent"))
    timed(lambda: rows.sink_parquet(out, compression="zstd", compression_level=1))


def hf_load(source, out):
    """datasets.load_dataset with an empty cache, which out is."""
    os.environ.update(HF_HOME=out, HF_HUB_OFFLINE="1")
    import datasets

    datasets.disable_progress_bars()
    timed(lambda: datasets.load_dataset("parquet", data_files=source, cache_dir=out)["train"])


def content(path, _):
    """Prints what rows a file holds: columns, types, count, and a hash in which every value, its column and its row count."""
    con = connect()
    names = con.execute("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet(?))", [path]).fetchall()
    each = ", ".join(f"'{n}', \"{n}\"" for n, _ in names)
    sql = f"SELECT count(*), sum(hash(file_row_number, {each})::HUGEINT) FROM read_parquet(?, file_row_number = true)"
    print(names, *con.execute(sql, [path]).fetchone())


def versions(*_):
    import importlib.metadata as m

    print(", ".join(f"{n} {m.version(n)}" for n in ("duckdb", "polars", "pyarrow", "datasets")))


JOBS = {f.__name__: f for f in (duckdb_gsm8k, polars_gsm8k, duckdb_add, polars_add, hf_load, content, versions)}

if __name__ == "__main__":
    JOBS[sys.argv[1]](*(sys.argv[2:] + ["", ""])[:2])
