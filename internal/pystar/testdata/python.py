"""Prints what Python makes of expressions, a line each: the rows of python.jsonl. python3 python.py > python.jsonl"""
import json
import math  # noqa: F401, for eval
import re  # noqa: F401, for eval

EXPRS = r'''
"-".join("héß")
[c for c in "日a"]
{c: 1 for c in "ab"}
list("aé")
sorted("hello")
sorted("bA", key=lambda c: c.lower())
list(enumerate("ab", 1))
list(zip("ab", [1, 2], "xy"))
list(reversed("abc"))
max("hello")
min("hello")
max("abc", "abd")
any("")
all("ab")
tuple("ab")
[x for pair in ["ab", "cd"] for x in pair]
"ab".center(5, "*") + "|"
"abc".center(6) + "|"
"abcd".center(3)
round(7, 2)
"{:#08X}".format(-6)
"{:#010b}".format(5)
"%#08x" % 255
"{:>03}".format(5)
"{:<05}".format(7)
"{:05}".format("ab")
"{:x>05}".format(7)
"{:05}".format(-7.5)
"%05s" % "ab"
"%-05d|" % 7
"ªb Ⅷx".title()
"Ⅷª".swapcase()
"ΑΣ Σ".swapcase()
"Ⅷ".isupper()
"ª".islower()
1e16 // -3
-7.5 // 2
7 // -2.0
1e15 % -1
-0.0 % 2
re.findall("x*", "axb")
re.sub("(?:)", "-", "ab")
re.split("b*", "abc")
[m.span() for m in re.finditer("a*?$", "aa")]
divmod(7, 2)
divmod(-7, 2)
divmod(7.5, -2)
math.gcd(12, -18)
math.isqrt(17)
math.comb(5, 2)
math.factorial(20)
math.trunc(-3.7)
math.log10(1000)
math.log2(8)
math.isnan(math.nan)
math.isinf(-math.inf)
math.isfinite(1)
math.floor(-2.5)
math.ceil(2.1)
math.sqrt(16)
math.pow(2, 10)
math.hypot(3, 4)
math.copysign(3, -0.0)
math.log(8, 2)
pow(2, -1)
pow(2, 0.5)
"héllo"[1]
"héllo"[-1]
"héllo"[1:3]
"héllo"[::-1]
"héllo"[::2]
"héllo"[-3:]
"héllo"[10:]
"héllo"[3:1]
"héllo"[-99:99]
[1, 2, 3][::-1]
[1, 2, 3][-2:]
(1, 2, 3)[1:]
[1, 2, 3, 4][3:0:-1]
len("héllo")
len("日本語")
len([1, 2])
"a日b".find("b")
"a日b日".rfind("日")
"a日b日".find("日", 2)
"a日b".find("x")
"a日b".index("b")
"abcabc".find("c", 3)
"abcabc".find("c", 3, 5)
"abcabc".rfind("a", 0, 3)
"abc".find("", 3)
"abc".find("", 4)
"aaa".count("a")
"aaa".count("aa")
"日本".count("")
"aXbXc".count("X", 2)
"  a b\u00a0c\u3000 d\t\n".split()
"  a b  c ".split(None, 1)
"  a b  c ".rsplit(None, 1)
"  a b  c ".split(None, 0)
"a,b,,c".split(",")
"a,b,,c".split(",", 1)
"a,b,,c".rsplit(",", 1)
"a,b,,c".split(",", -1)
"".split()
"".split(",")
"   ".split()
"   ".rsplit()
"a--b--c".rsplit("--", 1)
"a\nb\r\nc\x0bd\u2028e".splitlines()
"a\nb\n".splitlines(True)
"".splitlines()
"\u3000 a \u00a0".strip()
"xxaxx".strip("x")
"xyaxy".lstrip("yx")
"日a日".rstrip("日")
"\x1ca\x1f".strip()
"\u0085a\u0085".strip()
"\u200ba".strip()
"abc".replace("b", "")
"aaa".replace("a", "b", 2)
"ab".replace("", "-")
"日本".replace("", "-")
"aaa".replace("a", "b", 0)
"aaa".replace("a", "b", -1)
"a".join(["x", "y", "z"])
"".join([])
"ß".upper()
"ß".capitalize()
"ﬁx".capitalize()
"ΑΣ".lower()
"ΟΔΟΣ ΟΔΟΣ".lower()
"ΣΑΣ".capitalize()
"hELLO wORLD".capitalize()
"".capitalize()
"ŉa".capitalize()
"ǆa".capitalize()
"they're bill's".title()
"hello wORLD 3rd".title()
"éa ßb".title()
"Hello".swapcase()
"ßA".swapcase()
"Straße".casefold()
"İ".lower()
"123".isdigit()
"²".isdigit()
"½".isdigit()
"½".isnumeric()
"²".isdecimal()
"٣".isdecimal()
"".isdigit()
"1.5".isdigit()
"abc".isalpha()
"日本".isalpha()
"a1".isalnum()
"a_1".isalnum()
" \t".isspace()
"".isspace()
"\u00a0".isspace()
"ABC1".isupper()
"abc1".islower()
"123".isupper()
"Abc".isupper()
"abc".isascii()
"é".isascii()
"abc".startswith("ab")
"abc".startswith(("x", "a"))
"abc".endswith(("x", "y"))
"abc".startswith("b", 1)
"abc".endswith("b", 0, 2)
"abc".startswith("")
"a=b=c".partition("=")
"a=b=c".rpartition("=")
"abc".partition("x")
"abc".rpartition("x")
"abc".removeprefix("a")
"abc".removesuffix("bc")
"abc".removesuffix("")
"7".zfill(3)
"-7".zfill(4)
"+7".zfill(4)
"777".zfill(2)
"a".ljust(3) + "|"
"a".rjust(3, "*")
"日".ljust(3, "-")
str(1.0)
str(1e16)
str(1e15)
str(1234567.0)
str(0.0001)
str(0.00001)
str(1e-7)
str(-0.0)
str(1e300 * 1e300)
str(0.1 + 0.2)
str(100.0)
str(123456789012345678.0)
str(True)
str(None)
str([1, "a", None, True, 1.5])
str({"a": 1, "b": [1, 2]})
str((1,))
str(())
str((1, "x"))
str("it's")
repr("it's")
repr('say "hi"')
repr("both ' and \"")
repr("tab\tnew\nline\\")
repr("é日\u00a0\u200b\x00\x7f")
repr({"k": "v"})
"%s" % "a"
"%s and %s" % ("a", 1)
"%d" % 3.7
"%d" % True
"%5d|" % 42
"%-5d|" % 42
"%05d" % 42
"%+d" % 42
"%.2f" % 3.14159
"%8.3f|" % 3.14159
"%e" % 12345.678
"%g" % 0.0001
"%g" % 0.00001
"%g" % 1234567.0
"%g" % 100000.0
"%x" % 255
"%X" % 255
"%#x" % 255
"%o" % 8
"%s" % [1, "a"]
"%r" % "a"
"%10s|" % "abc"
"%-10s|" % "abc"
"%.2s" % "abc"
"100%%" % ()
"%(a)s-%(b)d" % {"a": "x", "b": 3}
"%s" % None
"%s" % 1.0
"%f" % 2
"{}".format(1)
"{} {}".format("a", "b")
"{1} {0}".format("a", "b")
"{x}".format(x=3)
"{{}}".format()
"{:>5}|".format("a")
"{:<5}|".format("a")
"{:^5}|".format("a")
"{:*^6}|".format("ab")
"{:5}|".format("a")
"{:5}|".format(42)
"{:05d}".format(42)
"{:+d}".format(42)
"{:,}".format(1234567)
"{:,.2f}".format(1234567.891)
"{:.2f}".format(3.14159)
"{:.3g}".format(1234.5)
"{:e}".format(12345.678)
"{:x}".format(255)
"{:#x}".format(255)
"{:b}".format(5)
"{:%}".format(0.25)
"{:.1%}".format(0.256)
"{!r}".format("a")
"{!s:>4}|".format(1)
"{0[a]}".format({"a": 7})
"{0[1]}".format([5, 6])
"{:.2}".format("abc")
"{}".format([1, "a"])
"{}".format(None)
"{}".format(1.0)
"{:_}".format(1234567)
"{:08.3f}".format(-3.14159)
"{:=+6d}".format(42)
int("42")
int(" 2 ")
int("1_000")
int("３")
int("-5")
int("+5")
int(3.9)
int(-3.9)
int(True)
float("1.5")
float(" 2 ")
float("1e3")
float("-inf")
float("1_0.5")
float(3)
round(2.5)
round(3.5)
round(-2.5)
round(2.675, 2)
round(1.005, 2)
round(3.14159, 3)
round(7)
sum([1, 2, 3])
sum([0.1, 0.2])
sum([1, 2], 10)
pow(2, 10)
pow(2, -1)
pow(2.0, 3)
7 // 2
-7 // 2
7 % 3
-7 % 3
7 / 2
6 / 2
7.5 // 2
-7.5 % 2
1 << 10
5 & 3
5 | 3
5 ^ 3
abs(-3)
abs(-3.5)
min(3, 1, 2)
max([3, 1, 2])
max(["b", "a"])
sorted([3, 1, 2])
sorted([3, 1, 2], reverse=True)
sorted(["b", "A", "a"], key=lambda s: s.lower())
sorted("a b".split())
list(range(5))
list(range(5, 0, -2))
[x * 2 for x in range(3) if x != 1]
{k: v for k, v in [("a", 1), ("b", 2)]}
dict(a=1, b=2)
dict([("a", 1)])
list({"b": 1, "a": 2})
list({"b": 1, "a": 2}.keys())
list({"b": 1, "a": 2}.items())
{"a": 1}.get("b", 7)
{"a": 1, "b": 2}.popitem()
{"a": 1} | {"b": 2}
list(enumerate(["a", "b"], 1))
list(zip([1, 2], ["a", "b"]))
list(reversed([1, 2, 3]))
any([0, 1])
all([1, 0])
all([])
bool("")
bool("a")
bool([])
not None
"a" in "abc"
"" in "abc"
2 in [1, 2]
"a" in {"a": 1}
"abc" < "abd"
"a" < "日"
"Z" < "a"
[1, 2] < [1, 3]
(1, 2) == (1, 2)
{"a": 1, "b": 2} == {"b": 2, "a": 1}
1 == 1.0
1 if [] else 2
"a" and "b"
"" or "c"
isinstance("a", str)
isinstance(True, int)
isinstance(1, (str, float))
isinstance([], list)
chr(233)
ord("日")
"a" * 3
[1] * 2
3 * "ab"
"a" * -1
[1] + [2]
math.floor(2.7)
math.ceil(2.1)
math.sqrt(16)
math.pi
math.log(1)
math.pow(2, 3)
re.search(r"#### (\-?[0-9\.\,]+)", "so #### -1,200").group(1)
re.search("#### (\\-?[0-9\\.\\,]+)", "#### 72").group(0)
re.search(r"x", "abc")
re.match(r"b", "abc")
re.match(r"a|ab", "ab").group()
re.fullmatch(r"a|ab", "ab").group()
re.fullmatch(r"a", "ab")
re.search(r"(\d+)-(\d+)", "a 12-34 b").groups()
re.search(r"(\d+)(x)?", "12").groups()
re.search(r"(\d+)(x)?", "12").groups("-")
re.search(r"(?P<n>\d+)", "é12").groupdict()
re.search(r"(?P<n>\d+)", "é12").start()
re.search(r"(?P<n>\d+)", "é12").span("n")
re.search(r"(\d)(\d)", "12").group(1, 2)
re.search(r"(?P<n>\d+)", "é12")["n"]
re.search(r"(a)|(b)", "b").span(1)
re.findall(r"\d+", "a1b22c333")
re.findall(r"(\w)(\d)", "a1 b2")
re.findall(r"(\w)\d", "a1 b2")
re.findall(r"x*", "axb")
re.findall(r"\w+", "héllo wörld_1 日本")
re.findall(r"\d", "1٣²")
re.findall(r"\s", "a\u00a0b\u3000c\x1cd")
re.findall(r"\W", "a-é!")
re.findall(r"[\w.]+", "é.a b")
re.findall(r"[\s,]+", "a, b\u00a0,c")
re.findall(r"[^\s]+", "a b\u00a0c")
re.findall(r"\S+", "a b\u00a0c")
re.findall(r"\D+", "a1b")
re.findall(r"(?i)ab", "abABaB")
re.findall(r"a", "aA", re.I)
re.findall(r"^a", "a\na", re.M)
re.findall(r"a$", "a\na", re.M)
re.findall(r"a.b", "a\nb")
re.findall(r"a.b", "a\nb", re.S)
re.findall(r"\w+", "é a", re.A)
re.search(r"foo$", "foo\n").group()
re.search(r"foo$", "foo\n").end()
re.search(r"(foo|bar)$", "a bar\n").group(1)
re.search(r"\s*$", "a \n").group()
re.search(r"\s*?$", "a \n").group()
re.search(r"foo\Z", "foo\n")
re.search(r"a$|b$", "xb\n").group()
re.search(r"^(.*)$", "line\n").group(1)
re.search(r"a{,2}", "aaa").group()
re.search(r"a{2,}", "aaa").group()
re.search(r"a{x}", "a{x}").group()
re.search(r"{", "a{").group()
re.search(r"[[]", "[").group()
re.search(r"[]a]+", "]a").group()
re.search(r"[^]]+", "ab]").group()
re.search(r"[a\-z]+", "a-z").group()
re.search(r"[\]]", "]").group()
re.search(r"\.", "a.b").start()
re.search(r"\u00e9", "é").group()
re.search(r"\x41", "A").group()
re.search(r"é+", "aéé").group()
re.search(r"(?:a|b)+", "abab").group()
re.search(r"a+?", "aaa").group()
re.search(r"\bfoo\b", "a foo b").span()
re.search(r"\\boxed\{(.*?)\}", "\\boxed{x} y}").group(1)
re.search(r"(?s)<a>(.*)</a>", "<a>x\ny</a>").group(1)
re.sub(r"\[.*?\]", "", "a [b] c [d]")
re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world")
re.sub(r"(?P<a>\w)", r"<\g<a>>", "ab")
re.sub(r"a", r"\g<0>\n", "a")
re.sub(r"x*", "-", "abxd")
re.sub(r"a*", "-", "baac")
re.sub(r"\s+", " ", "a  b\n c")
re.sub(r"a", "b", "aaa", count=2)
re.sub(r"a", lambda m: m.group().upper(), "banana")
re.sub(r"(a)|b", r"[\1]", "ab")
re.sub(r"^\s+|\s+$", "", "  a b ")
re.sub(r"\d", "\\\\", "a1")
re.sub(r"é", "e", "café")
re.subn(r"a", "b", "aa")
re.sub(r"(a)(?=b)", r"\1\061\g<1>\0", "ab ac")
re.sub(r"a", "\\.\\é\\-", "a")
re.sub(r"a", r"\a\b\f\n\r\t\v\\", "a")
re.sub(r"(?P<é>a)", r"<\g<é>>", "a")
re.sub(r"a", "b", "aaa", count=-1)
re.sub(r"a", "b", "aaa", 1, re.I)
re.subn(r"b|", "-", "abc")
re.subn(r"(?<=,)", " ", "a,b,c", count=1)
re.split(r",", "a,b,c", maxsplit=-1)
re.split(r"(?<=,)", "a,b,c")
re.split(r"(a)|b", "1a2b3")
re.split(r"\b", "one two")
re.findall(r"(['\"])(.*?)\1", "say 'a \"b\" c' \"d\"")
re.findall(r"(?i)strasse|straße", "STRASSE Straẞe")
re.findall(r"i", "Iıİ", re.I)
re.findall(r"\d+(?!%|\d)", "5% 10 20%")
re.findall(r"(?<=\$)\d+", "$5 6 $7")
re.findall(r"a??", "aa")
re.findall(r"|a", "aa")
re.findall(r"^|\w", "ab\nc", re.M)
re.findall(r"\d+ \.? # digits", "1. 2", re.X)
re.findall(r"a b", "ab", re.VERBOSE | re.UNICODE)
re.search(r"([^x]*)*|", "ab").groups()
re.search(r"a$b", "a\n")
re.search(r"\bé", "a é").span()
re.search(r"a{2000}", "a" * 2001).end()
re.fullmatch(r"a$", "a\n")
re.fullmatch(r"(a|ab)(c|bcd)(d*)", "abcd").groups()
re.sub(r"\B(?=(?:\d{3})+(?!\d))", ",", "1234567")
re.compile(r"(?P<a>x)(y)?").search("ax").groupdict()
[m.span(1) for m in re.finditer(r"(é)|b", "béb")]
re.split(r",\s*", "a, b,c")
re.split(r"(,)", "a,b")
re.split(r",", "a,b,c", maxsplit=1)
re.split(r"x*", "axbc")
re.escape("a.b*c-d e")
[m.group() for m in re.finditer(r"\d", "1a2")]
re.compile(r"a(b)").search("ab").group(1)
re.compile(r"A", re.I).sub("x", "aA")
re.compile(r"a").findall("aa")
json.dumps({"a": 1, "b": [1.5, None, True], "c": "é\"\n"})
json.dumps({"b": 1, "a": 2}, sort_keys=True)
json.dumps({"a": "é"}, ensure_ascii=False)
json.dumps([1, 2], indent=2)
json.dumps({"a": [], "b": {}}, indent=2)
json.dumps([1, 2], separators=(",", ":"))
json.dumps("😀")
json.dumps(1e16)
json.dumps(1.0)
json.dumps({2: 2, True: 3, None: 4})
json.dumps("a/b</x>\u2028\x7f")
json.loads("{\"a\": [1, 2.5, null, true, \"x\"]}")
json.loads("\"\\u00e9\"")
json.loads("1")
json.loads("1.0")
json.loads("[]")
'''

if __name__ == "__main__":
    for line in EXPRS.strip().splitlines():
        print(json.dumps({"expr": line, "want": repr(eval(line))}, ensure_ascii=False))
