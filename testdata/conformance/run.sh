# Second-reader conformance: sh testdata/conformance/run.sh [--keep] [--only WORD]
# Every output of rlprep, in many forms, is read by pyarrow, HF datasets, pandas, Polars and DuckDB to equal rows, on the
# repository's sample and, where it is there ($RLPREP_SHARED or ../shared), on the real GSM8K with its ten golden hashes.
# Before that, random files by five writers are edited and compared (edits.py): RLPREP_EDIT_CASES=10000 makes so many of them,
# RLPREP_EDIT_SEED=7 others.
# Random files of several schemas go through the step unify (unify.py): RLPREP_UNIFY_CASES, RLPREP_EDIT_SEED.
# Random operations of map functions are compared with Python's (map.py): RLPREP_MAP_CASES, RLPREP_EDIT_SEED.
# Random regular expressions of map functions are compared with Python's (regexps.py): RLPREP_RE_CASES, RLPREP_EDIT_SEED.
# Damaged files are read by pyarrow too (mutants.py): RLPREP_READ_MUTANTS. So are footers of all annotations (annotations.py).
# Files of many writers are fixed by lint --fix, and what was not fixed is compared (fixes.py).
# Random overrides, and those of verl's launch scripts where they are there, are parsed as hydra-core parses them.
# Random overrides of verl's configuration are composed by hydra-core and by rlprep (configs.py), where its trees are there:
# RLPREP_CONFIG_CASES, RLPREP_EDIT_SEED.
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
"$python" "$here/edits.py" "$bin" --cases "${RLPREP_EDIT_CASES:-700}" --seed "${RLPREP_EDIT_SEED:-1}"
"$python" "$here/unify.py" "$bin" --cases "${RLPREP_UNIFY_CASES:-150}" --seed "${RLPREP_EDIT_SEED:-1}"
"$python" "$here/map.py" "$bin" --cases "${RLPREP_MAP_CASES:-10000}" --seed "${RLPREP_EDIT_SEED:-1}"
"$python" "$here/regexps.py" "$bin" --cases "${RLPREP_RE_CASES:-10000}" --seed "${RLPREP_EDIT_SEED:-1}"
"$python" "$here/mutants.py" "$bin" --count "${RLPREP_READ_MUTANTS:-400}"
"$python" "$here/annotations.py" "$bin"
"$python" "$here/fixes.py" "$bin"
RLPREP_SHARED=${RLPREP_SHARED:-$root/../shared} "$python" "$here/launch_compose.py" overrides "$bin"
trees=${RLPREP_SHARED:-$root/../shared}/data/verl-config
if [ -d "$trees" ]; then
	"$python" "$here/configs.py" "$bin" "$trees" "${RLPREP_CONFIG_CASES:-300}" "${RLPREP_EDIT_SEED:-1}"
else
	echo "SKIPPED: the overrides of verl's configuration: no $trees" >&2
fi
(cd "$root" && CGO_ENABLED=0 go build -o "$root/.venv/serve" ./internal/hub/hubtest/serve)
"$python" "$here/hub.py" "$bin" "$root/.venv/serve"
exec "$python" "$here/conform.py" "$bin" "$@"
