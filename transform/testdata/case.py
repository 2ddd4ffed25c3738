"""Writes case.jsonl: texts with what CPython 3.11 (Unicode 14) makes of them by lower, upper, capitalize and strip.

    python case.py > case.jsonl

There are all characters whose case has more than one character, or whose capital is not their upper case, and texts around a Σ.
"""
import json
import random
import sys
import unicodedata


def main():
    chars = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) != "Cn"]
    texts = [c for c in chars if max(len(c.lower()), len(c.upper())) > 1 or c.upper() != c.capitalize()]
    texts += [a + "x" + a for a in chars if not a.strip()]
    cased = [c for c in chars if c.lower() != c or c.upper() != c]
    ignored = [c for c in chars if unicodedata.category(c) in ("Mn", "Lm", "Sk", "Cf")] + list("'.:\u00b7\u0387\u055f\u2019\ufe13\uff0e")
    pick = random.Random(1)
    for _ in range(300):
        texts.append("".join(pick.choice(("Σ", "Σ", "a", " ", pick.choice(cased), pick.choice(ignored))) for _ in range(pick.randint(1, 7))))
    for t in texts:
        sys.stdout.write(json.dumps([t, t.lower(), t.upper(), t.capitalize(), t.strip()]) + "\n")


if __name__ == "__main__":
    main()
