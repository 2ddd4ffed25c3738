"""Builds wheels that hold the static binary, so that pip, uv and pre-commit's "language: python" install rlprep.

    python3 .ci/wheel.py [--version 1.2.3] [--platform all|native|linux-amd64,…] [--out dist] [--test]

Needs Go and nothing beside Python's standard library. The same sources give the same bytes. --test installs the wheel of this
machine into a new venv and runs it.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Go's system and processor, and the tags of wheels that fit. A static binary asks for no libc, so it fits glibc and musl alike; Go
# 1.26 asks for macOS 12 or later.
PLATFORMS = {
    "linux-amd64": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "linux-arm64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "darwin-amd64": ["macosx_12_0_x86_64"],
    "darwin-arm64": ["macosx_12_0_arm64"],
    "windows-amd64": ["win_amd64"],
    "windows-arm64": ["win_arm64"],
}

MAIN = '''"""Runs the binary that was installed with this package: python -m rlprep …"""

import os
import subprocess
import sys
import sysconfig


def find():
    name = "rlprep" + sysconfig.get_config_var("EXE")
    user = sysconfig.get_preferred_scheme("user")
    for scripts in (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user), os.path.dirname(sys.executable)):
        path = os.path.join(scripts, name)
        if os.path.isfile(path):
            return path
    sys.exit("rlprep: the binary is not where pip puts scripts; install the package again")


if __name__ == "__main__":
    command = [find(), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)
'''


def release():
    text = (ROOT / "internal/cli/version.go").read_text()
    return re.search(r'var release = "(.*)"', text).group(1)


def pep440(version):
    """0.1.0-dev as Python's packaging writes it: 0.1.0.dev0."""
    return re.sub(r"-dev$", ".dev0", version.removeprefix("v"))


def native():
    machine = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine().lower()]
    return f"{sys.platform.replace('win32', 'windows')}-{machine}"


def binary(target, version, directory):
    system, processor = target.split("-")
    out = pathlib.Path(directory) / f"rlprep-{target}"
    env = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": processor}
    flags = f"-s -w -X github.com/rlprep/rlprep/internal/cli.release={version}"
    subprocess.run(["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", out, "./cmd/rlprep"], cwd=ROOT, env=env, check=True)
    return out.read_bytes()


def metadata(version):
    return f"""Metadata-Version: 2.1
Name: rlprep
Version: {version}
Summary: Prepare and lint datasets for RL training of language models
Home-page: https://github.com/rlprep/rlprep
License: Apache-2.0
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{(ROOT / "README.md").read_text()}"""


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def targets(parser, asked):
    """The platforms that --platform names."""
    found = {"all": list(PLATFORMS), "native": [native()]}.get(asked) or asked.split(",")
    if unknown := [t for t in found if t not in PLATFORMS]:
        parser.error(f"unknown platform {unknown[0]} ({', '.join(PLATFORMS)})")
    return found


def wheel(target, version, out, data):
    """Writes the wheel of target with the binary data and returns its path. The layout is that of the binary distribution format (PEP 427)."""
    name = f"rlprep-{pep440(version)}"
    tags = PLATFORMS[target]
    exe = ".exe" if target.startswith("windows") else ""
    about = "Wheel-Version: 1.0\nGenerator: rlprep (.ci/wheel.py)\nRoot-Is-Purelib: false\n"
    about += "".join(f"Tag: py3-none-{tag}\n" for tag in tags)
    files = {
        "rlprep/__init__.py": b'"""Prepare and lint datasets for RL training: the command rlprep, also python -m rlprep."""\n',
        "rlprep/__main__.py": MAIN.encode(),
        f"{name}.data/scripts/rlprep{exe}": data,
        f"{name}.dist-info/METADATA": metadata(pep440(version)).encode(),
        f"{name}.dist-info/WHEEL": about.encode(),
        f"{name}.dist-info/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    record = f"{name}.dist-info/RECORD"
    lines = [f"{path},{digest(data)},{len(data)}" for path, data in files.items()]
    files[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode()

    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-py3-none-{'.'.join(tags)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for file, data in files.items():
            info = zipfile.ZipInfo(file, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if "/scripts/" in file else 0o100644) << 16
            z.writestr(info, data)
    return path


def test(path, version):
    """Installs the wheel into a new venv and runs the binary, as a command and as a module."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.executable, "-m", "venv", directory], check=True)
        scripts = pathlib.Path(directory) / ("Scripts" if sys.platform == "win32" else "bin")
        pip = [scripts / "python", "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", "--no-index", path], check=True)
        for command in ([scripts / "rlprep"], [scripts / "python", "-m", "rlprep"]):
            got = subprocess.run([*command, "--version"], check=True, capture_output=True, text=True).stdout
            if got != f"rlprep {version}\n":
                sys.exit(f"{command}: printed {got!r}, want version {version}")
            if subprocess.run([*command, "no-such-command"], capture_output=True).returncode != 2:
                sys.exit(f"{command}: the exit status does not come through")
        subprocess.run([*pip, "uninstall", "--quiet", "--yes", "rlprep"], check=True)
        if (scripts / "rlprep").exists():
            sys.exit("pip uninstall left the binary behind")
    print(f"{path.name}: installed in a new venv and ran")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default=release())
    parser.add_argument("--platform", default="all")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--test", action="store_true")
    args = parser.parse_args()
    version = args.version.removeprefix("v")
    built = {}
    with tempfile.TemporaryDirectory() as scratch:
        for target in targets(parser, args.platform):
            built[target] = wheel(target, version, args.out, binary(target, version, scratch))
            print(f"{built[target].name}: {built[target].stat().st_size:,} bytes", flush=True)
    if args.test:
        if native() not in built:
            parser.error(f"--test needs the platform {native()}")
        test(built[native()], version)


if __name__ == "__main__":
    main()
