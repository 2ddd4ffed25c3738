# Second-reader conformance: sh testdata/conformance/run.sh [--keep] [--only WORD]
# Every output of rlprep, in many forms, is read by pyarrow, HF datasets, pandas, Polars and DuckDB to equal rows, on the
# repository's sample and, where it is there ($RLPREP_SHARED or ../shared), on the real GSM8K with its ten golden hashes.
# RLPREP=PATH uses that binary instead of building one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$(sh "$here/venv.sh")
bin=${RLPREP:-}
if [ -z "$bin" ]; then
	bin="$root/.venv/rlprep"
	(cd "$root" && CGO_ENABLED=0 go build -o "$bin" ./cmd/rlprep)
fi
export PYTHONDONTWRITEBYTECODE=1
"$python" "$here/selftest.py"
exec "$python" "$here/conform.py" "$bin" "$@"
