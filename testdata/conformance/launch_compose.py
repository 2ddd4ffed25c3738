"""What rlprep says about launches, held to Hydra and to verl's own configuration.

overrides RLPREP [N]     N random overrides (and those of the launch scripts, where they are there) by hydra-core's own parser
compose RLPREP SCRIPTS   the effective configuration of every launch of main_ppo below SCRIPTS by hydra.compose over the
                         installed verl; a launch that Hydra refuses must be one that lint calls an error, and none other

Prints "N passed, M failed"; the status is 1 where something differs.
"""
import glob
import json
import os
import random
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")


def rlprep(bin, *args, cwd=None):
    p = subprocess.run([bin, *args], capture_output=True, text=True, cwd=cwd)
    return p.returncode, p.stdout, p.stderr


# --- overrides

ATOMS = [
    "a", "b.c", "data.train_files", "'x y'", '"a,b"', "1", "-3", "1e-6", "1_000", "0.5", ".5", "5.", "true", "False", "null", "[", "]", "{", "}",
    "(", ")", ",", ",", ":", "=", " ", "\\", "\\,", "\\ ", "$", "${a.b}", "${", "}", "~", "+", "++", "@", "/", "-", "*", "?", "|", "inf", "-nan",
    "int(", "str(3)", "float(1)", "bool(true)", "x-y", "_z", "0", "00", "1e5", "0x1", "é", "#", "'", '"', "\\'", '\\"', "\t", ";", "%", "!",
    "<", "a/b", "gs://x/y", "'['", "['a','b']", "{a:1,b:[2]}", "{1:x,true:y}", "1:2", "a=b",
]
KEYS = ["a", "a.b", "+a.b", "++a", "~a", "db/x", "db@p", "a@b.c", "$x.y", "a-b", "a.0.b", "1.a", "~a.b"]


def random_override(rng):
    key = "".join(rng.choice(ATOMS) for _ in range(rng.randint(0, 2))) if rng.random() < 0.3 else rng.choice(KEYS)
    return key + ("=" if rng.random() < 0.93 else "") + "".join(rng.choice(ATOMS) for _ in range(rng.randint(0, 6)))


def plain(v):
    from hydra.core.override_parser.types import ChoiceSweep, QuotedString

    if isinstance(v, QuotedString):
        return v.text
    if isinstance(v, float) and v in (float("inf"), float("-inf")) or v != v:
        return str(v)
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, ChoiceSweep) and v.simple_form:
        return {"sweep": plain(v.list)}
    return v


def by_hydra(parser, text):
    from hydra.core.override_parser.types import OverrideType

    ops = {OverrideType.CHANGE: "=", OverrideType.ADD: "+", OverrideType.FORCE_ADD: "++", OverrideType.DEL: "~"}
    try:
        o = parser.parse_override(text)
    except Exception:
        return None
    return json.loads(json.dumps({"op": ops[o.type], "key": o.key_or_group, "package": o.package, "value": plain(o._value)}))


def overrides(bin, n):
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parser = OverridesParser.create()
    rng = random.Random(1)
    texts = [random_override(rng) for _ in range(n)]
    shared = os.environ.get("RLPREP_SHARED", "")
    for script in sorted(glob.glob(os.path.join(shared, "data/launch/verl/**/*.sh"), recursive=True)):
        _, out, _ = rlprep(bin, "launch", script, "--json")
        for c in json.loads(out)["commands"] if out else []:
            texts += [a for a in c["argv"] if "=" in a and not a.startswith("-")]
    texts = [t for t in texts if ("=" in t or t.startswith("~")) and not t.startswith("-")]
    ok, bad = 0, []
    for i in range(0, len(texts), 500):
        part = texts[i : i + 500]
        _, out, err = rlprep(bin, "launch", "--json", "--", "python3", "-m", "main", *part)
        c = json.loads(out)["commands"][0]
        got = iter(c["overrides"])
        refused = len(c.get("errors", []))
        want = [(t, by_hydra(parser, t)) for t in part]
        if refused != sum(w is None for _, w in want):
            bad.append((f"refused {refused}", sum(w is None for _, w in want)))
        for t, w in want:
            if w is None:
                ok += 1
                continue
            g = next(got, {})
            g = {k: g.get(k) for k in ("op", "key", "package", "value")}
            if g == w:
                ok += 1
            else:
                bad.append((t, g, w))
    for b in bad[:10]:
        print("FAILED", *b)
    return ok, len(bad)


# --- compose

def compose(bin, root):
    import verl
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    own = os.path.join(os.path.dirname(verl.__file__), "trainer/config")
    work = root_with_verl(root, own)
    ok, bad, composed = 0, [], 0
    for script in sorted(glob.glob(os.path.join(work, "**/*.sh"), recursive=True)):
        name = os.path.relpath(script, work)
        _, out, err = rlprep(bin, "launch", name, "--json", cwd=work)
        r = json.loads(out)
        e = r["effective"]
        if e is None or e["module"] != "verl.trainer.main_ppo" or r.get("assumed"):
            continue
        argv = r["commands"][e["command"]]["argv"]
        path, cfg, over = own, "ppo_trainer", []
        for a in argv[3:]:
            if a.startswith("--config-path="):
                p = a.split("=", 1)[1]
                path = p if os.path.isabs(p) else own
            elif a.startswith("--config-name="):
                cfg = a.split("=", 1)[1].removesuffix(".yaml")
            elif not a.startswith("-"):
                over.append(a)
        GlobalHydra.instance().clear()
        try:
            os.chdir(work)
            with initialize_config_dir(config_dir=path, version_base=None):
                want = hydra_compose(config_name=cfg, overrides=over)
            error = None
        except Exception as x:
            want, error = None, str(x).splitlines()[0]
        _, out, _ = rlprep(bin, "lint", "--config", name, "--output-format", "json", "--select", "RL714,RL724,RL730", cwd=work)
        refused = [f for f in json.loads(out or "[]") if f["level"] == "error"]
        if (error is None) != (not refused):
            bad.append((name, "Hydra:", error, "rlprep:", [f["column"] for f in refused]))
            continue
        if error:
            ok += 1
            continue
        composed += 1
        wrong = []
        for key, v in e["config"].items():
            n = OmegaConf.select(want, key, throw_on_missing=False)
            n = OmegaConf.to_container(n, resolve=True) if OmegaConf.is_config(n) else n
            if isinstance(n, str):
                n = n.replace(work, "")
            x = json.loads(json.dumps(v["value"]).replace(work, ""))
            if n != x:
                wrong.append((key, x, n))
        if wrong:
            bad.append((name, *wrong[:5]))
        else:
            ok += 1
    for b in bad:
        print("FAILED", *b)
    print(f"launches: {composed} compose to the configuration that verl {verl.__version__} composes, {ok - composed} are refused by both")
    if composed < 20:
        bad.append(("fewer than 20 compose",))
    return ok, len(bad)


def root_with_verl(root, own):
    """The scripts beside the installed verl's configuration, which their searchpath names relative to the working directory."""
    import shutil
    import tempfile

    work = tempfile.mkdtemp(prefix="rlprep-launch-")
    for sub in os.listdir(root):
        if sub != "verl" and os.path.isdir(os.path.join(root, sub)):
            shutil.copytree(os.path.join(root, sub), os.path.join(work, sub))
    shutil.copytree(own, os.path.join(work, "verl/trainer/config"))
    subprocess.run(["chmod", "-R", "u+w", work], check=True)
    return work


def main():
    what, bin = sys.argv[1], os.path.abspath(sys.argv[2])
    ok, bad = overrides(bin, int(sys.argv[3]) if len(sys.argv) > 3 else 5000) if what == "overrides" else compose(bin, sys.argv[3])
    print(f"{ok} passed, {bad} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
