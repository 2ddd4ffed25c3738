"""Writes golden.txt: what numpy and Python's random draw for 1,000 seeds and sizes. Run it with numpy 2.4.6 and CPython 3.11:

    python golden.py > golden.txt

A line is one case: seed, n, k, and the first 16 digits of the SHA-256 of what is drawn, in decimals (modulo 2**64) with commas between, by
default_rng(seed).permutation(n); RandomState(seed).shuffle, then choice(n, k, replace=False) of one state; and by
random.Random(seed) and random.Random(str(seed)) as draws() has it. A double is drawn as the integer that its 64 bits are.
"""
import hashlib
import random
import struct

import numpy as np

CASES = 1000


def digest(numbers):
    return hashlib.sha256(",".join(str(int(x) % 2**64) for x in numbers).encode()).hexdigest()[:16]


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def draws(r, n, k):
    """One call of everything, so that each must draw as many words as Python does for the next to be equal."""
    out = [bits(r.random()), bits(r.uniform(1, 10)), r.getrandbits(k % 64 + 1), r.randint(-5, 20), r.randint(3, 3)]
    if n:
        out.append(r.choice(range(n)))
    shuffled = list(range(n))
    r.shuffle(shuffled)
    return out + shuffled + r.sample(range(n), k) + [r.getrandbits(32)]


def main():
    pick = random.Random(20260129)
    for case in range(CASES):
        seed = (case, pick.getrandbits(32), pick.getrandbits(63), -pick.getrandbits(62))[case % 4]
        n = 100003 if case == 999 else 1 << pick.randint(0, 11) if case % 5 == 0 else pick.randint(0, 700)
        k = pick.randint(0, min(n, 40))
        state = np.random.RandomState(seed & 0xFFFFFFFF)
        shuffled = np.arange(n)
        state.shuffle(shuffled)
        print(
            seed,
            n,
            k,
            digest(np.random.default_rng(seed & 0xFFFFFFFFFFFFFFFF).permutation(n)),
            digest(list(shuffled) + list(state.choice(n, k, replace=False) if n else [])),
            digest(draws(random.Random(seed), n, k)),
            digest(draws(random.Random(str(seed)), n, k)),
        )


if __name__ == "__main__":
    main()
