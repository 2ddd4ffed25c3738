"""Random regular expressions and texts, and what this Python's re makes of them.

patterns.py [--cases N] [--seed S] prints a case a line: {"p": pattern, "f": flags, "s": text, "op": operation, "want": result or null, "err": message}.
golden.jsonl, which the tests of package pyre read, is: python3.11 patterns.py --cases 4000 > golden.jsonl. The cases of HAND come first.
A case that takes Python longer than LIMIT seconds is left out. map.py in testdata/conformance takes its patterns from here.
"""
import argparse
import json
import random
import re
import signal
import warnings

LIMIT = 1
OPS = ["search", "match", "fullmatch", "finditer"]
FLAGS = [0] * 8 + [re.I, re.I, re.M, re.S, re.A, re.I | re.A, re.I | re.M, re.S | re.M, re.X, re.U]
LETTERS = list("aabbc1_ -.\n")
ODD = list("ABKSIksi2é\u0131\u0130ſKßẞµμςσΣǅ²½٣日𝒳𐐀𐐨\u2028\x1c\x85\u0345\u0301\t\r\\]^")
CLASS = ["a", "b", "c", "a-c", "0-9", "A-Z", "a-z", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "é", "À-ÿ", "ſ", "K", "i", "k", "ı-ſ", "日", r"\n", r"\b", r"\-", r"\]", r"\\", "^", "-", ".", "$",
         "_", " ", "[", "|", "&", "~", "α-ω", "Α-Ω", "\U00010400", "\u0250-\U00010fff", r"\x41", r"\u0130", r"\101"]
PLACES = ["^", "$", r"\b", r"\B", r"\A", r"\Z"]
COUNTS = ["*", "+", "?", "*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}", "{0}", "{0,1}", "{2,3}", "{,}"]

# What random patterns seldom hold: a pattern, its flags, a text.
HAND = [(p, f, s) for p, f, texts in [
    (r"#### (\-?[0-9\.\,]+)", 0, ["so 1 + 1 = 2\n#### 1,234.5", "####", "#### -5 #### 6"]),
    (r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", 0, [r"x \boxed{\frac{1}{2}} y \boxed{3}", r"\boxed{"]),
    (r"<think>.*?</think>\s*", re.S, ["<think>a\nb</think>\n c", "<think>"]),
    (r"(?<=\$)\d+(?:\.\d\d)?(?!\d)", 0, ["pay $12.50 or $3.123", "$"]),
    (r"^(?P<key>\w+)\s*[:=]\s*(?P<value>.*?)\s*$", re.M, ["a: 1\nb = two words  \n:x", ""]),
    (r"(['\"])(.*?)\1", 0, ["say 'a \"b\" c' \"d\"", "'"]),
    (r"(?P<q>['\"])x(?P=q)", 0, ["'x' \"x' \"x\""]),
    (r"(a)?b(?(1)c|d)", 0, ["abc", "bd", "abd", "bc"]),
    (r"(?:(a)|b(?(1)x|y))*", 0, ["abxby", "byabx", "bxa"]),
    (r"(a|b(?(1)x|y))*", 0, ["abx", "aby", "bybx", "abxbx"]),
    (r"(a*)*", 0, ["aab", "b", ""]), (r"(a*)+", 0, ["aab", "b"]), (r"(a|)*b", 0, ["aab", "b"]), (r"([^x]*)*|", 0, ["ab", "x"]), (r"(a*?)*?$", 0, ["aa"]),
    (r"(?:(a)|(b)|(c))*", 0, ["abc", "cba", "aab"]), (r"((a)|b)*?c", 0, ["abc", "bac"]), (r"(?:(a)|b)*?(?:(c)|d){2,3}?$", 0, ["abcd", "bdcd"]),
    (r"(?>a+)ab|a+b", 0, ["aaab"]), (r"(?>(a|ab))c", 0, ["abc", "ac"]), (r"a++b", 0, ["aaab", "aaa"]), (r"(?:ab|a)++b", 0, ["aab", "abab"]), (r"(?:a|ab){2}+c", 0, ["abac", "aac", "aabc"]),
    (r"a?+a", 0, ["a", "aa"]), (r"a{1,2}+a", 0, ["aa", "aaa"]), (r"(?:a*)++", 0, ["aab"]),
    (r"(?=(a+))a*b\1", 0, ["baaabac"]), (r"(?!(a)b)a", 0, ["abac"]), (r"(?<!a)b|(?<=ab)c", 0, ["abc b"]), (r"(?<=a|b)c", 0, ["acbc"]), (r"(?<=(?<!x)a)b", 0, ["xabab"]), (r"(?<=日)本", 0, ["日本"]),
    (r"(?=a)*", 0, ["a"]), (r"(?:)*", 0, ["a"]), (r"(?:^)*a", 0, ["a"]), (r"()*", 0, ["a"]), (r"(?:a?){3}", 0, ["aa"]), (r"(?:a??){2,}", 0, ["aaa"]), (r"((?:a|)b?){2,4}", 0, ["abab", ""]),
    (r"\b", 0, ["", "a b"]), (r"\B", 0, ["", "a", "ab", " "]), (r"$", 0, ["a\n", "\n\n"]), (r"$", re.M, ["a\n", "\n\n"]), (r"^", re.M, ["a\nb\n"]), (r"\Z|a", 0, ["a\n"]), (r"a$b", re.M, ["a\nb"]),
    (r"i", re.I, ["Iıİ"]), (r"İ", re.I, ["iIİı"]), (r"[^i]", re.I, ["Iıİx"]), (r"ß", re.I, ["ẞßs"]), (r"k", re.I | re.A, ["K"]), (r"[A-Z]+", re.I | re.A, ["ſKaZ"]), (r"[A-Z]+", re.I, ["ſKaZı"]),
    (r"ς", re.I, ["Σσς"]), (r"[\U00010400x]", re.I, ["𐐀𐐨"]), (r"\U00010400", re.I, ["𐐀𐐨"]), (r"[^\U00010400]", re.I, ["𐐀𐐨a"]), (r"[\U00010400-\U00010410]", re.I, ["𐐀𐐨"]), (r"[ɐ-\U00010000]", re.I, ["ŉa"]),
    (r"(?i:a)b", 0, ["Ab", "AB"]), (r"(?-i:a)b", re.I, ["aB", "AB"]), (r"(?a:\w)\w", 0, ["aé", "éa"]), (r"(?u:\w)\w", re.A, ["éa", "éé"]), (r"(?s:.).", 0, ["\na", "\n\n"]), (r"(?i)a|b", 0, ["B"]),
    (r"(é)\1", re.I, ["éÉ", "éé"]), (r"(k)\1", re.I, ["kK"]), (r"(k)\1", re.I | re.A, ["kK", "kK"]), (r"(s)\1", re.I, ["sſ"]), (r"(a)(?:\1)*", 0, ["aaa"]),
    (r" a # b", re.X, ["a", " a"]), ("(?x) a\n# c\n b", 0, ["ab"]), (r"(?x:a b)c d", 0, ["abc d"]), (r"a (?-x: )b", re.X, ["a b"]), ("a *", re.X, ["aaa"]), (r"[ ]\ ", re.X, ["  "]), ("a(?#x)*", 0, ["aa"]),
    (r"\0a\07\101\x41\u0041\a\f\v", 0, ["\0a\7AAA\a\f\v"]), (r"[\b\0-\7]", 0, ["\b\3"]), (r"\-\ \é\_\%", 0, ["- é_%"]), (r"[]-a]", 0, ["^]x"]), (r"[^]a]", 0, ["]b"]), (r"[a-]", 0, ["-"]), (r"[\w-]", 0, ["-"]),
    ("a{,}b{2}{c", 0, ["aabb{c"]), ("x{", 0, ["x{"]), ("x{a}", 0, ["x{a}"]), ("x{}", 0, ["x{}"]), ("x{,3}", 0, ["xxxx"]), ("{1}", 0, ["{1}"]), ("a{2000}", 0, ["a" * 2001]), ("(?:a{1,100}){1,10}b", 0, ["a" * 300 + "b"]),
    ("a.*b|a", 0, ["a" * 50]), ("[^\n]*x", 0, ["abcx\nx"]), ("(.*)(\\d+)", 0, ["ab123"]), ("(.*?)(\\d+)", 0, ["ab123"]), ("日+?本", 0, ["日日本"]), (".*é", 0, ["éaéb"]), (".*?é", 0, ["aé"]), ("[^é]*é", 0, ["abcé"]), ("x*", 0, ["axb"]), ("a|", 0, ["aab"]),
    ("|a", 0, ["aa"]), ("a??", 0, ["aa"]), ("\\d{1,3}(?=(?:\\d{3})+(?!\\d))", 0, ["1234567"]), ("(?P<é>a)(?P=é)", 0, ["aa"]),
    # Python takes none of these.
    *[(p, 0, ["a"]) for p in ["(", ")", "a)", "[", "[a", "a**", "a*{2}", "*a", "(*a)", "a|*", "$*", r"\A+", r"[\S-0]", "[b-a]", r"\1", r"(a\1)", r"(?P=x)", "(?P<x>a)(?P<x>b)", "(?P<1>a)", "(?P<>a)", "(?P<x", "(?Px)", "(?", "(?#",
                              "(?<a)", "(?<", "(?z)", "(?i", "(?i-", "(?-i)", "(?i-i:a)", "(?-a:x)", "(?au:x)", "a(?i)", "(a)(?i)b", "(?L)", "a{2,1}", "a{4294967295}", r"\q", r"\x1", r"\u12", r"\U00110000", r"\8", "\\", r"[\8]", r"[\q]",
                              r"[\400]", r"\400", "(?<=a*)", "(?<=a|bc)", "(?(1)a)", "(?(x)a)", "(?(0)a)", "(a)(?(1)b|c|d)", "(?=a", "(?:a", "(?>a", "(?<=(a)\\1)", "(?(1a)b)", "(?P", "(?(1", "a+ +"]],
    ("a* ?", re.X, ["aa"]), ("a", re.A | re.U, ["a"]), ("(?u)a", re.A, ["a"]), ("(?x", re.X, ["a"]),
] for s in texts]


class Patterns:
    """Random patterns. Groups are counted, so that references mostly name one that there is."""

    def __init__(self, rng):
        self.rng = rng

    def text(self):
        r = self.rng
        odd = r.choice([0, 0.2, 0.6])
        out = "".join(r.choice(ODD if r.random() < odd else LETTERS) for _ in range(r.randrange(14)))
        return out + ("\n" if r.random() < 0.1 else "")

    def flags(self):
        return int(self.rng.choice(FLAGS))

    def pattern(self):
        self.groups = 0
        start = self.rng.choice([""] * 20 + ["(?i)", "(?m)", "(?s)", "(?a)", "(?x)", "(?im)", "(?u)"])
        return start + self.alternatives(3)

    def alternatives(self, depth):
        return "|".join(self.sequence(depth) for _ in range(self.rng.choice([1, 1, 1, 1, 2, 2, 3])))

    def sequence(self, depth):
        out = ""
        for _ in range(self.rng.choice([0, 1, 1, 2, 2, 3, 4])):
            atom = self.atom(depth)
            out += atom
            if self.rng.random() < (0.02 if atom in PLACES else 0.35):
                out += self.rng.choice(COUNTS) + self.rng.choice(["", "", "", "", "?", "?", "+"])
        return out

    def atom(self, depth):
        r, x = self.rng, self.rng.random()
        if x < 0.36:
            return self.character()
        if x < 0.44:
            return "."
        if x < 0.52:
            return r.choice([r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"])
        if x < 0.61:
            return "[" + r.choice(["", "", "^"]) + "".join(r.choice(CLASS) for _ in range(r.randrange(1, 4))) + "]"
        if x < 0.68:
            return r.choice(PLACES)
        if x < 0.72 and self.groups:
            return r.choice([r"\%d", r"(?(%d)a|b)", r"(?(%d)" + self.sequence(0) + ")"]) % r.randrange(1, self.groups + 1)
        if depth == 0:
            return r.choice("ab")
        return self.group(depth)

    def character(self):
        c = self.rng.choice(LETTERS if self.rng.random() < 0.7 else ODD)
        return c if c.isalnum() or c in "_ -\n" and self.rng.random() < 0.5 else re.escape(c)

    def group(self, depth):
        r, x = self.rng, self.rng.random()
        if x < 0.5:
            self.groups += 1
            name = r.choice(["", "", "", f"?P<n{self.groups}>"])
            return "(" + name + self.alternatives(depth - 1) + ")"
        if x < 0.72:
            return "(?:" + self.alternatives(depth - 1) + ")"
        if x < 0.88:
            behind = r.random() < 0.3
            body = "".join(self.character() for _ in range(r.randrange(3))) if behind and r.random() < 0.8 else self.alternatives(r.choice([0, 0, 1]))
            return r.choice(["(?<=", "(?<!"] if behind else ["(?=", "(?!"]) + body + ")"
        if x < 0.93:
            return "(?>" + self.alternatives(depth - 1) + ")"
        return "(?" + r.choice(["i", "s", "m", "-i", "a", "u", "is", "i-s", "x"]) + ":" + self.alternatives(depth - 1) + ")"


class TooSlow(Exception):
    pass


def too_slow(*_):
    raise TooSlow


def spans(m):
    return None if m is None else [list(m.span(g)) for g in range(m.re.groups + 1)]


def evaluate(pattern, flags, text, op):
    """The result and the message of the error, one of them None."""
    try:
        p = re.compile(pattern, flags)
        if op == "finditer":
            return [spans(m) for m in p.finditer(text)], None
        return spans(getattr(p, op)(text)), None
    except (re.error, OverflowError, ValueError, RecursionError, SystemError) as e:  # SystemError: a known fault of groups in possessive repeats
        return None, str(e) or type(e).__name__


def cases(count, seed):
    """Yields a case each, in the order of the seed."""
    rng = random.Random(seed)
    make = Patterns(rng)
    hand = [(p, int(f), s, op) for p, f, s in HAND for op in OPS]
    for i in range(count):
        p, f, s, op = hand[i] if i < len(hand) else (make.pattern(), make.flags(), make.text(), rng.choice(OPS))
        try:
            signal.setitimer(signal.ITIMER_REAL, LIMIT)
            want, err = evaluate(p, f, s, op)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except TooSlow:
            continue
        yield {"p": p, "f": f, "s": s, "op": op, "want": want, "err": err}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--cases", type=int, default=4000)
    a.add_argument("--seed", type=int, default=1)
    a = a.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_slow)
    for c in cases(a.cases, a.seed):
        print(json.dumps(c))


if __name__ == "__main__":
    main()
