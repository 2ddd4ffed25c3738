# Makes the benchmark data in .bench/, once: sh testdata/bench/data.sh [COPIES…] (10 and 100 when none are named; data.py says what)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONDONTWRITEBYTECODE=1
exec "$(sh "$here/../conformance/venv.sh")" "$here/data.py" "$@"
