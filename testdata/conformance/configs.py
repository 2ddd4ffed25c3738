"""Overrides of verl's configuration, judged by hydra-core and by rlprep.

configs.py RLPREP TREES [N] [SEED]   N random launches on five releases, each with one to three overrides

TREES has verl's configuration tree of each release (verl/trainer/config). hydra-core composes the launch over it; 'rlprep launch' says
whether Hydra refuses it, and what is composed. Both must agree, in every value. Prints "N passed, M failed"; the status is 1 where
something differs.
"""
import json
import os
import random
import subprocess
import sys
import warnings

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

warnings.simplefilter("ignore")

RELEASES = {"0.5": "0.5.0", "0.6": "0.6.1", "0.7": "0.7.1", "0.8": "0.8.0", "0.9": "0.9.1"}
PROGRAMS = {
    "ppo_trainer": ["verl.trainer.main_ppo"],
    "ppo_megatron_trainer": ["verl.trainer.main_ppo", "--config-name=ppo_megatron_trainer"],
    "sft_trainer": ["verl.trainer.fsdp_sft_trainer"],
    "sft_trainer_engine": ["verl.trainer.sft_trainer"],
    "evaluation": ["verl.trainer.main_eval"],
    "generation": ["verl.trainer.main_generation"],
}
VALUES = ["1", "-1", "0.5", "1e-6", "true", "False", "null", "abc", "'a b'", "[]", "[a,b]", "{}", "{a: 1}", "{enable: true}", "???", "'???'", "${trainer.nnodes}"]


def keys_of(cfg):
    """Every key of a configuration, of values and of groups."""
    out = []

    def walk(node, key):
        for k in node.keys():
            full = f"{key}.{k}" if key else k
            out.append(full)
            child = node._get_node(k)
            if isinstance(child, DictConfig) and not child._is_none() and not child._is_interpolation():
                walk(child, full)

    walk(cfg, "")
    return out


def misspell(rng, word):
    i = rng.randrange(len(word))
    return rng.choice([word[:i] + word[i + 1 :], word[:i] + rng.choice("aeix_") + word[i:], word[:i] + "q" + word[i + 1 :], word + "s"]) or "x"


def random_override(rng, keys, groups):
    if rng.random() < 0.25 and groups:
        group, options = rng.choice(groups)
        key = rng.choice([group, group + "@" + rng.choice(keys)])
        known = [k for k in ("actor@actor_rollout_ref.actor", "ref@actor_rollout_ref.ref", "critic", "model_engine", "data", "rollout@actor_rollout_ref.rollout",
                             "model@actor_rollout_ref.model", "model@critic.model", "engine", "optim", "reward_model", "reward", "algorithm@algorithm.rollout_correction")
                 if k.split("@")[0] == group]
        if known and rng.random() < 0.8:
            key = rng.choice(known)
        option = rng.choice(options) if rng.random() < 0.85 else misspell(rng, rng.choice(options))
        return rng.choice(["", "", "", "", "+", "++", "~"]) + key + "=" + option if rng.random() < 0.9 else "~" + key
    key = rng.choice(keys)
    kind = rng.random()
    if kind < 0.35:
        parts = key.split(".")
        at = rng.randrange(len(parts))
        change = rng.random()
        if change < 0.5:
            parts[at] = misspell(rng, parts[at])
        elif change < 0.7:
            parts.append(rng.choice(["x", "enable", "path"]))
        elif change < 0.85 and len(parts) > 1:
            del parts[at]
        else:
            parts.insert(at, rng.choice(["x", "config"]))
        key = ".".join(parts)
    op = rng.choice(["", "", "", "+", "++", "~"])
    if op == "~" and rng.random() < 0.5:
        return op + key
    return op + key + "=" + rng.choice(VALUES)


def by_hydra(folder, name, overrides):
    """The composed configuration, or the error."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(config_dir=folder, version_base=None):
        try:
            return compose(config_name=name, overrides=overrides), None
        except Exception as e:
            return None, f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"


def by_rlprep(bin, version, name, overrides):
    argv = [bin, "launch", "--json", "--target", "verl@" + version, "--", "python3", "-m", *PROGRAMS[name], *overrides]
    p = subprocess.run(argv, capture_output=True, text=True, cwd="/")
    if p.returncode != 0:
        return None, [f"status {p.returncode}: {p.stderr}"]
    e = json.loads(p.stdout)["effective"]
    return e["config"], e.get("problems") or []


MISSING = object()


def differences(cfg, config):
    """Keys whose values differ, of those that OmegaConf can resolve."""
    out = []
    for key, v in config.items():
        if v["value"] == "***":  # a secret, or what may be one
            continue
        try:
            n = OmegaConf.select(cfg, key, default=MISSING)
            if n is MISSING:
                n = "???" if OmegaConf.is_missing(OmegaConf.select(cfg, key.rpartition(".")[0]) if "." in key else cfg, key.rpartition(".")[2]) else MISSING
            n = OmegaConf.to_container(n, resolve=True) if OmegaConf.is_config(n) else n
        except Exception:
            continue
        if n is MISSING or json.dumps(n, sort_keys=True) != json.dumps(v["value"], sort_keys=True):
            out.append((key, v["value"], "missing" if n is MISSING else n))
    leaves = set(config)
    for key in keys_of(cfg):
        if not any(k == key or k.startswith(key + ".") for k in leaves):
            out.append((key, "missing"))
    return out


def main():
    bin, trees = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    n, seed = int(sys.argv[3]) if len(sys.argv) > 3 else 300, int(sys.argv[4]) if len(sys.argv) > 4 else 1
    rng = random.Random(seed)
    cases, known = [], {}
    for version, release in RELEASES.items():
        folder = os.path.join(trees, release)
        groups = [(d, sorted(f[:-5] for f in os.listdir(os.path.join(folder, d)) if f.endswith(".yaml"))) for d in sorted(os.listdir(folder)) if os.path.isdir(os.path.join(folder, d))]
        groups = [g for g in groups if g[1]]
        for name in PROGRAMS:
            if os.path.exists(os.path.join(folder, name + ".yaml")):
                cfg, error = by_hydra(folder, name, [])
                assert error is None, error
                known[version, name] = (folder, keys_of(cfg), groups)
    programs = sorted(known)
    for program in programs:
        cases.append((program, []))
    while len(cases) < n + len(programs):
        program = rng.choice([p for p in programs if p[1].startswith("ppo")] if rng.random() < 0.8 else programs)
        _, keys, groups = known[program]
        cases.append((program, [random_override(rng, keys, groups) for _ in range(rng.choice([1, 1, 1, 2, 3]))]))
    bad, refused = [], 0
    for (version, name), overrides in cases:
        want, error = by_hydra(known[version, name][0], name, overrides)
        config, problems = by_rlprep(bin, version, name, overrides)
        refused += error is not None
        if (error is not None) != bool(problems):
            bad.append((version, name, overrides, "Hydra:", error, "rlprep:", problems))
        elif error is None:
            wrong = differences(want, config)
            if wrong:
                bad.append((version, name, overrides, "values:", *wrong[:5]))
    for b in bad[:20]:
        print("FAILED", *b)
    print(f"configs: {len(cases) - len(bad)} passed, {len(bad)} failed ({refused} are refused by both)")
    if refused < len(cases) / 10 or refused > len(cases) * 9 / 10:
        print("configs: nearly all or nearly none are refused")
        bad.append(())
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
