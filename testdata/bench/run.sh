# Benchmarks side by side with other tools: sh testdata/bench/run.sh [--quick] [--pairs N] [--only PART,…] [--large] [--memory] [--write]
# Makes the venv, the data and the binary (RLPREP=PATH: that one) as needed; run.py says what is measured and how.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$(sh "$here/../conformance/venv.sh")
case " $* " in
*" --quick "*) sh "$here/data.sh" 1 ;;
*) sh "$here/data.sh" 10 100 ;;
esac
bin=${RLPREP:-}
if [ -z "$bin" ]; then
	bin="$root/.bench/rlprep"
	(cd "$root" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$bin" ./cmd/rlprep)
fi
(cd "$root" && CGO_ENABLED=0 go build -o "$root/.bench/serve" ./internal/hub/hubtest/serve)
exec "$python" "$here/run.py" --rlprep "$bin" "$@"
