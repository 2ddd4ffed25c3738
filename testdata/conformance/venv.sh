# Makes the pinned venv of second readers once and prints its python: sh testdata/conformance/venv.sh
# It stands in .venv/ of the checkout and is made anew when requirements.txt changes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv="$root/.venv/readers"
want="$here/requirements.txt"
if ! cmp -s "$want" "$venv/requirements.txt"; then
	rm -rf "$venv"
	echo "making $venv" >&2
	if command -v uv >/dev/null 2>&1; then
		uv venv -q "$venv" >&2
		uv pip install -q --python "$venv/bin/python" -r "$want" >&2
	else
		python3 -m venv "$venv"
		"$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$want" >&2
	fi
	cp "$want" "$venv/requirements.txt"
fi
echo "$venv/bin/python"
