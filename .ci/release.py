"""Builds what a release holds, into dist/: archives with the static binary for six platforms, wheels, an SBOM, checksums.

    python3 .ci/release.py [--version 1.2.3] [--platform all|native|linux-amd64,…] [--out dist] [--check]

The version is that of the tag on the commit, without one that of internal/cli/version.go. The same commit gives the same bytes,
wherever it is checked out. --check builds all of it again from a copy of the checkout in another folder, and compares.
"""

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import wheel

ROOT = wheel.ROOT
BESIDE = ["LICENSE", "README.md", "CHANGELOG.md"]


def tagged():
    """The version of the tag on this commit, else the one that is being worked on."""
    done = subprocess.run(["git", "describe", "--tags", "--exact-match", "--match", "v*"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip().removeprefix("v") if done.returncode == 0 else wheel.release()


def archive(path, files):
    """Writes a .tar.gz or a .zip of files, {name: (bytes, mode)}, without times and owners."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for name, (data, mode) in files.items():
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
                z.writestr(info, data)
        return
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for name, (data, mode) in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), mode
            t.addfile(info, io.BytesIO(data))


def modules(binary):
    """The modules that a binary was built of, [(path, version)], as it says itself."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(binary)
        f.flush()
        said = subprocess.run(["go", "version", "-m", f.name], capture_output=True, text=True, check=True).stdout
    lines = [line.split("\t") for line in said.splitlines()]
    return said.split()[1], [(x[2], x[3]) for x in lines if len(x) > 3 and x[1] == "dep"]


def sbom(version, binaries):
    """A CycloneDX list of what stands in the binaries: Go's standard library and modules."""
    parts, go = set(), ""
    for data in binaries.values():
        go, deps = modules(data)
        parts |= set(deps)
    parts.add(("std", go.removeprefix("go")))
    components = [{"type": "library", "bom-ref": f"pkg:golang/{n}@{v}", "name": n, "version": v, "purl": f"pkg:golang/{n}@{v}"} for n, v in sorted(parts)]
    me = {"type": "application", "bom-ref": f"pkg:golang/github.com/rlprep/rlprep@v{version}", "name": "rlprep", "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}]}
    depends = [{"ref": me["bom-ref"], "dependsOn": [c["bom-ref"] for c in components]}]
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": me}, "components": components, "dependencies": depends}
    return json.dumps(bom, indent=1) + "\n"


def build(version, targets, out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        binaries = {t: wheel.binary(t, version, scratch) for t in targets}
    for target, data in binaries.items():
        exe, kind = (".exe", ".zip") if target.startswith("windows") else ("", ".tar.gz")
        name = f"rlprep-{version}-{target}"
        files = {f"{name}/rlprep{exe}": (data, 0o755)} | {f"{name}/{n}": ((ROOT / n).read_bytes(), 0o644) for n in BESIDE}
        archive(out / (name + kind), files)
        wheel.wheel(target, version, out, data)
    (out / f"rlprep-{version}.cdx.json").write_text(sbom(version, binaries))
    sums = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.iterdir())}
    (out / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))


def check(args, out):
    """Builds again from a copy of what is tracked, elsewhere, and compares every byte."""
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory) / "elsewhere"
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        argv = [sys.executable, copy / ".ci/release.py", "--version", args.version, "--platform", args.platform, "--out", copy / "dist"]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        ours, theirs = ({p.name: p.read_bytes() for p in d.iterdir()} for d in (out, copy / "dist"))
        if differ := [n for n in sorted(ours.keys() | theirs.keys()) if ours.get(n) != theirs.get(n)]:
            sys.exit(f"built twice, {', '.join(differ)}: not the same bytes")
        print(f"built twice: {len(ours)} files, the same bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default=tagged())
    parser.add_argument("--platform", default="all")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    args.version = args.version.removeprefix("v")
    build(args.version, wheel.targets(parser, args.platform), args.out)
    for path in sorted(args.out.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    if args.check:
        check(args, args.out)


if __name__ == "__main__":
    main()
