# verl 0.9.1 itself over what rlprep writes and over the examples of its rules: sh testdata/conformance/verl.sh [--write]
# Needs the shared folder ($RLPREP_SHARED or ../shared), whose oracle/setup.sh makes a venv of 6.3 GB in the user's cache once
# (two to three minutes), and the real GSM8K there. RLPREP=PATH uses that binary instead of building one. verl_oracle.py says what is asked.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
shared=${RLPREP_SHARED:-$root/../shared}
if [ ! -f "$shared/oracle/setup.sh" ]; then
	echo "SKIPPED: verl's oracle is not there ($shared/oracle): set RLPREP_SHARED" >&2
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
python=$(bash "$shared/oracle/setup.sh")
bin=${RLPREP:-}
if [ -z "$bin" ]; then
	mkdir -p "$root/.venv"
	bin="$root/.venv/rlprep"
	(cd "$root" && CGO_ENABLED=0 go build -o "$bin" ./cmd/rlprep)
fi
export PYTHONDONTWRITEBYTECODE=1 RLPREP_SHARED="$shared" VERL_LOGGING_LEVEL=ERROR
if [ -d "$shared/data/launch/verl" ]; then
	"$python" "$here/launch_compose.py" compose "$bin" "$shared/data/launch/verl"
fi
examples=$(mktemp)
trap 'rm -f "$examples"' EXIT
(cd "$root" && RLPREP_EXPORT="$examples" go test ./internal/cli -run '^TestExportExamples$' -count 1)
"$python" "$here/verl_oracle.py" "$bin" --examples "$examples" "$@"
