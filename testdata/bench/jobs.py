"""The other tools' side of each benchmark job, one process a run: jobs.py JOB IN OUT [EDIT]. A job prints the seconds of its own
statement, so that Python's start and imports are not held against it."""
import glob
import itertools
import os
import sys
import time


def timed(f):
    start = time.perf_counter()
    f()
    print(f"seconds {time.perf_counter() - start:.4f}")


SUFFIX = ' Let\'s think step by step and output the final answer after "####".'
TRUTH = "#### (-?[0-9.,]+)"
BATCH = 122880  # rows a row group of what pyarrow writes
ZSTD = "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"

GSM8K = f"""
  SELECT 'openai/gsm8k' AS data_source,
         [{{{{'role': 'user', 'content': question || '{{suffix}}'}}}}] AS prompt,
         'math' AS ability,
         {{{{'style': 'rule', 'ground_truth': replace(regexp_extract(answer, '{TRUTH}', 1), ',', '')}}}} AS reward_model,
         {{{{'split': 'train', 'index': file_row_number::BIGINT, 'answer': answer, 'question': question}}}} AS extra_info
  FROM {{rows}}
"""

# What each edit gives, as the columns of a SELECT. They are DuckDB's side of the job, and what rlprep's rows are held to.
EDITS = {
    "none": "* EXCLUDE (file_row_number)",
    "add": "* EXCLUDE (file_row_number), 'tool_agent' AS agent_name",
    "drop": "* EXCLUDE (file_row_number, ability)",
    "rename": "* EXCLUDE (file_row_number) RENAME (ability AS subject)",
    "select": "data_source, prompt, reward_model",
    "index": "* EXCLUDE (file_row_number) REPLACE (CASE WHEN extra_info IS NOT NULL "
    "THEN struct_insert(extra_info, \"index\" := file_row_number::BIGINT) END AS extra_info)",
}


def connect():
    import duckdb

    con = duckdb.connect()
    con.execute("SET threads = 2")
    return con


def gsm8k(source):
    """SQL for verl's rows of a raw file."""
    rows = f"read_parquet('{source}', file_row_number = true)"
    if source.endswith(".jsonl"):
        rows = f"(SELECT *, row_number() OVER () - 1 AS file_row_number FROM read_json('{source}', format = 'newline_delimited'))"
    return GSM8K.format(suffix=SUFFIX.replace("'", "''"), rows=rows)


def duckdb_gsm8k(source, out, _):
    con = connect()
    sql = gsm8k(source)
    timed(lambda: con.execute(f"COPY ({sql}) TO '{out}' {ZSTD}"))


def polars_gsm8k(source, out, _):
    import polars as pl

    q, a = pl.col("question"), pl.col("answer")
    truth = a.str.extract(TRUTH, 1).str.replace_all(",", "", literal=True)
    rows = pl.scan_parquet(source, row_index_name="i").select(
        data_source=pl.lit("openai/gsm8k"),
        prompt=pl.concat_list(pl.struct(role=pl.lit("user"), content=q + SUFFIX)),
        ability=pl.lit("math"),
        reward_model=pl.struct(style=pl.lit("rule"), ground_truth=truth),
        extra_info=pl.struct(split=pl.lit("train"), index=pl.col("i").cast(pl.Int64), answer=a, question=q),
    )
    timed(lambda: rows.sink_parquet(out, compression="zstd", compression_level=1))


def pyarrow_gsm8k(source, out, _):
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    def rows(b, start):
        n, q, a = len(b), b["question"], b["answer"]

        def struct(**fields):
            return pa.StructArray.from_arrays([pa.repeat(v, n) if isinstance(v, str) else v for v in fields.values()], list(fields))

        turns = struct(role="user", content=pc.binary_join_element_wise(q, SUFFIX, ""))
        found = pc.extract_regex(a, TRUTH.replace("(", "(?P<n>", 1))
        columns = {
            "data_source": pa.repeat("openai/gsm8k", n),
            "prompt": pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32), turns),
            "ability": pa.repeat("math", n),
            "reward_model": struct(style="rule", ground_truth=pc.replace_substring(pc.struct_field(found, "n"), ",", "")),
            "extra_info": struct(split="train", index=pa.array(np.arange(start, start + n)), answer=a, question=q),
        }
        return pa.record_batch(columns)

    short = ["data_source", "prompt.list.element.role", "ability", "reward_model.style", "extra_info.split"]
    timed(pyarrow_write(source, out, rows, short))


def pyarrow_write(source, out, rows, dictionary=True):
    """Gives a function that writes what rows(batch, number of its first row) makes of each batch; one thread makes the next while
    another writes."""
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(2)

    def made():
        start = 0
        for b in pq.ParquetFile(source).iter_batches(BATCH):
            yield rows(b, start)
            start += len(b)

    def run():
        batches, w = made(), None
        with ThreadPoolExecutor(1) as pool:
            ahead = pool.submit(next, batches, None)
            while (b := ahead.result()) is not None:
                ahead = pool.submit(next, batches, None)
                w = w or pq.ParquetWriter(out, b.schema, compression="zstd", compression_level=1, use_dictionary=dictionary)
                w.write_batch(b, row_group_size=BATCH)
        w.close()

    return run


def duckdb_edit(source, out, edit):
    con = connect()
    sql = f"SELECT {EDITS[edit]} FROM read_parquet('{source}', file_row_number = true)"
    timed(lambda: con.execute(f"COPY ({sql}) TO '{out}' {ZSTD}"))


def polars_edit(source, out, edit):
    import polars as pl

    rows = pl.scan_parquet(source)
    rows = {
        "add": lambda: rows.with_columns(agent_name=pl.lit("tool_agent")),
        "drop": lambda: rows.drop("ability"),
        "rename": lambda: rows.rename({"ability": "subject"}),
        "select": lambda: rows.select(EDITS["select"].split(", ")),
    }[edit]()
    timed(lambda: rows.sink_parquet(out, compression="zstd", compression_level=1))


def pyarrow_edit(source, out, edit):
    import pyarrow as pa

    one = {
        "add": lambda b: b.append_column("agent_name", pa.repeat("tool_agent", len(b))),
        "drop": lambda b: b.drop_columns(["ability"]),
        "rename": lambda b: b.rename_columns({"ability": "subject"}),
        "select": lambda b: b.select(EDITS["select"].split(", ")),
    }[edit]
    timed(pyarrow_write(source, out, lambda b, _: one(b)))


def hf_add(source, out, _):
    """map and to_parquet; load_dataset, which fills its cache beside the output, is not counted."""
    rows = loaded(source, out + ".cache")
    timed(lambda: rows.map(lambda row: {"agent_name": "tool_agent"}).to_parquet(out))


def hf_map(source, out, _):
    """verl's mapping of GSM8K by map and to_parquet; load_dataset, which fills its cache beside the output, is not counted."""
    import re

    def extract_solution(text):
        found = re.search("#### (\\-?[0-9\\.\\,]+)", text)
        assert found is not None
        return found.group(0).split("#### ")[1].replace(",", "")

    def process_fn(example, idx):
        question, answer = example.pop("question"), example.pop("answer")
        return {
            "data_source": "openai/gsm8k",
            "prompt": [{"role": "user", "content": question + SUFFIX}],
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": extract_solution(answer)},
            "extra_info": {"split": "train", "index": idx, "answer": answer, "question": question},
        }

    rows = loaded(source, out + ".cache")
    timed(lambda: rows.map(process_fn, with_indices=True).to_parquet(out))


def hf_load(source, out, _):
    """datasets.load_dataset with an empty cache, which out is."""
    timed(lambda: loaded(source, out))


def loaded(source, cache):
    os.environ.update(HF_HOME=cache, HF_HUB_OFFLINE="1")
    import datasets

    datasets.disable_progress_bars()
    return datasets.load_dataset("parquet", data_files=source, cache_dir=cache)["train"]


def content(pattern, _, edit):
    """Prints what rows files hold, one after the other, were they edited so (gsm8k: were they verl's rows of it): columns, types,
    count, and a hash in which every value, its column and its row count."""
    con = connect()
    names, count, total = None, 0, 0
    for path in sorted(glob.glob(pattern)):
        rows = f"SELECT {EDITS.get(edit or 'none')}, file_row_number AS \"#\" FROM read_parquet('{path}', file_row_number = true)"
        if edit == "gsm8k":
            rows = f'SELECT *, extra_info."index" AS "#" FROM ({gsm8k(path)})'
        here = con.execute(f"SELECT column_name, column_type FROM (DESCRIBE {rows})").fetchall()[:-1]
        assert names in (None, here), f"{path} has other columns than the file before it: {here}, not {names}"
        names = here
        each = ", ".join(itertools.chain.from_iterable((f"'{n}'", f'"{n}"') for n, _ in names))
        n, hashes = con.execute(f'SELECT count(*), sum(hash("#" + {count}, {each})::HUGEINT) FROM ({rows})').fetchone()
        count, total = count + n, total + (hashes or 0)
    print(names, count, total)


def raw(path, copies, rows):
    """Writes raw GSM8K so many times over, made unique as data.py does it: in row groups of so many rows, or as JSON Lines."""
    import json

    import data
    import pyarrow as pa
    import pyarrow.compute as pc

    copies, hole = range(int(copies)), "\0"
    problems = data.copy(data.base()[0], hole)
    if path.endswith(".jsonl"):
        text = "".join(json.dumps({"question": q, "answer": a}, ensure_ascii=False) + "\n" for q, a in problems).encode()
        with open(path, "wb") as f:
            for k in copies:
                f.write(text.replace(b"\\u0000", b"%d" % k))
        return
    one = data.sources.table(problems)
    tables = (pa.table([pc.replace_substring(c, hole, str(k)) for c in one.columns], schema=one.schema) for k in copies)
    data.write(path, tables, one.schema, int(rows))


def versions(*_):
    import importlib.metadata as m

    print(", ".join(f"{n} {m.version(n)}" for n in ("duckdb", "polars", "pyarrow", "datasets")))


JOBS = {
    f.__name__: f
    for f in (duckdb_gsm8k, polars_gsm8k, pyarrow_gsm8k, duckdb_edit, polars_edit, pyarrow_edit, hf_add, hf_map, hf_load, content, raw, versions)
}

if __name__ == "__main__":
    JOBS[sys.argv[1]](*(sys.argv[2:] + ["", "", ""])[:3])
