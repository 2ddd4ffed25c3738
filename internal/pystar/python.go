package pystar

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A lexeme is a token of Python, as far as it matters here.
type lexeme struct {
	kind      lexKind
	text      string
	start     int // in the source
	line, col int
	depth     int  // of brackets around it
	first     bool // of its logical line
}

type lexKind uint8

const (
	lexName lexKind = iota
	lexString
	lexNumber
	lexOp
	lexNewline
)

// lex cuts Python source into lexemes; comments and blanks are left out. Damaged text gives fewer lexemes, never an error: that is the
// parser's.
func lex(src string) []lexeme {
	l := &lexer{src: src, line: 1, first: true}
	for l.at < len(src) {
		l.next()
	}
	return l.out
}

// A lexer is how far the source has been cut.
type lexer struct {
	src             string
	at              int // of the next byte
	depth           int // of brackets
	line, lineStart int
	counted, chars  int  // characters of the line up to a byte of it, so that a long line is counted once
	first           bool // what comes next is the first of a logical line
	out             []lexeme
}

// add adds the lexeme from the present place to another, and goes there.
func (l *lexer) add(kind lexKind, to int) {
	if l.counted < l.lineStart {
		l.counted, l.chars = l.lineStart, 0
	}
	l.chars += utf8.RuneCountInString(l.src[l.counted:l.at])
	l.counted = l.at
	l.out = append(l.out, lexeme{kind, l.src[l.at:to], l.at, l.line, l.chars + 1, l.depth, l.first})
	l.first = false
	l.at = to
}

// next cuts off one lexeme, or skips a blank or a comment.
func (l *lexer) next() {
	switch c := l.src[l.at]; {
	case c == '\n':
		if l.depth == 0 && !l.first {
			l.add(lexNewline, l.at)
			l.first = true
		}
		l.newline(1)
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case c == '\\' && strings.HasPrefix(l.src[l.at+1:], "\n"):
		l.newline(2)
	case c == '#':
		for l.at < len(l.src) && l.src[l.at] != '\n' {
			l.at++
		}
	case c == '"' || c == '\'':
		start := l.at
		l.add(lexString, stringEnd(l.src, start))
		for k := start; k < l.at; k++ {
			if l.src[k] == '\n' {
				l.line, l.lineStart = l.line+1, k+1
			}
		}
	case c >= '0' && c <= '9':
		l.add(lexNumber, l.while(func(c byte) bool { return isNameByte(c) || c == '.' }))
	case isNameByte(c):
		l.add(lexName, l.while(isNameByte))
	default:
		l.operator(c)
	}
}

// newline skips n bytes, of which the last is a line feed.
func (l *lexer) newline(n int) {
	l.at += n
	l.line, l.lineStart = l.line+1, l.at
}

// while returns where the bytes that are of a class end.
func (l *lexer) while(is func(byte) bool) int {
	end := l.at
	for end < len(l.src) && is(l.src[end]) {
		end++
	}
	return end
}

var twoByteOps = []string{":=", "**", "->", "//", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "%="}

func (l *lexer) operator(c byte) {
	n := 1
	if slices.ContainsFunc(twoByteOps, func(op string) bool { return strings.HasPrefix(l.src[l.at:], op) }) {
		n = 2
	}
	if strings.IndexByte(")]}", c) >= 0 && l.depth > 0 {
		l.depth--
	}
	l.add(lexOp, l.at+n)
	if strings.IndexByte("([{", c) >= 0 {
		l.depth++
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// stringEnd returns where the string Literal that begins with a quote at i ends.
func stringEnd(src string, i int) int {
	q := src[i : i+1]
	if strings.HasPrefix(src[i:], q+q+q) {
		for k := i + 3; k < len(src); k++ {
			if src[k] == '\\' {
				k++
			} else if strings.HasPrefix(src[k:], q+q+q) {
				return k + 3
			}
		}
		return len(src)
	}
	for k := i + 1; k < len(src); k++ {
		switch src[k] {
		case '\\':
			k++
		case '\n':
			return k
		case q[0]:
			return k + 1
		}
	}
	return len(src)
}

// A hint is what Python has and Starlark lacks, with what to write in its place.
type hint struct {
	line, col int
	text      string
}

// statements are the hints for words that begin a statement.
var statements = map[string]string{
	"assert":   "assert is not supported in Starlark: write 'if not (CONDITION): fail(\"…\")', which rejects the row",
	"try":      "try is not supported in Starlark: test before you do ('if x == None', 'if key in d', re.search), or fail(\"…\") to reject the row",
	"except":   "except is not supported in Starlark: test before you do",
	"finally":  "finally is not supported in Starlark",
	"raise":    "raise is not supported in Starlark: write fail(\"…\"), which rejects the row",
	"class":    "class is not supported in Starlark: use functions and dicts",
	"while":    "while is not supported in Starlark: write 'for _ in range(LIMIT):' and break",
	"with":     "with is not supported in Starlark: a map function opens nothing",
	"del":      "del is not supported in Starlark: write d.pop(key)",
	"global":   "global is not supported in Starlark: a map function keeps nothing from row to row",
	"nonlocal": "nonlocal is not supported in Starlark: return the value",
	"async":    "async is not supported in Starlark",
	"yield":    "yield is not supported in Starlark: return a list",
	"from":     "from is not supported in Starlark: re, json and math are available without import; copy other functions that you need",
}

// modules are those that are there without an import.
var modules = []string{"re", "json", "math"}

// hints returns what of the source Starlark lacks, in order.
func hints(toks []lexeme) []hint {
	var out []hint
	for i, t := range toks {
		if text := hintAt(toks, i); text != "" {
			out = append(out, hint{t.line, t.col, text})
		}
	}
	return out
}

func hintAt(toks []lexeme, i int) string {
	t := toks[i]
	at := func(k int) lexeme {
		if k < 0 || k >= len(toks) {
			return lexeme{kind: lexNewline}
		}
		return toks[k]
	}
	next, prev := at(i+1), at(i-1)
	switch {
	case t.kind == lexName && t.first && t.text == "import":
		if slices.Contains(modules, next.text) && at(i+2).kind == lexNewline {
			return ""
		}
		return fmt.Sprintf("import %s: re, json and math are available without import; copy other functions that you need", next.text)
	case t.kind == lexName && t.first && t.text == "if" && next.text == "__name__":
		return "remove the block of __main__: rows come from --source, and make_map_fn or process_fn must be at the left margin"
	case t.kind == lexName && t.first && statements[t.text] != "":
		return statements[t.text]
	case t.kind == lexName && t.text == "yield":
		return statements["yield"]
	case t.kind == lexName && next.kind == lexString && next.start == t.start+len(t.text):
		return prefixHint(t.text)
	case t.kind == lexName && t.text == "is" && prev.text != ".":
		if next.text == "not" {
			return "'is not' is not supported in Starlark: write != (x != None)"
		}
		return "'is' is not supported in Starlark: write == (x == None)"
	case t.kind == lexNumber && strings.Contains(t.text, "_"):
		return "_ within a number is not supported in Starlark: write " + strings.ReplaceAll(t.text, "_", "")
	case t.text == ":=":
		return "the walrus := is not supported in Starlark: assign on a separate line"
	case t.text == "->":
		return "annotations are not supported in Starlark: remove '-> TYPE'"
	case t.text == "**" && (prev.kind == lexName && prev.text != "return" && prev.text != "lambda" || prev.kind == lexNumber || prev.text == ")" || prev.text == "]"):
		return "** is not supported in Starlark: write pow(x, y)"
	case t.text == "**" && (prev.text == "{" || prev.text == "," && opener(toks, i) == "{"):
		return "a dict in a dict, {**a}, is not supported in Starlark: write dict(a, key=value), or d = dict(a) and d.update(b)"
	case t.text == "*" && (prev.text == "[" || prev.text == "," && opener(toks, i) == "["):
		return "a list in a list, [*a], is not supported in Starlark: write a + b, or list(a)"
	case t.first && t.text == "@":
		return "decorators are not supported in Starlark: call the function"
	case t.kind == lexName && t.text == "def":
		return annotation(toks, i)
	case t.text == "{":
		return setLiteral(toks, i)
	case t.kind == lexName && t.text == "set" && next.text == "(" && prev.text != "." && prev.text != "def":
		return "sets are not supported in Starlark: use a dict with True for values, or a list"
	case t.kind == lexName && t.first && next.text == ":" && t.depth == 0 && at(i+2).kind == lexName && at(i+3).text == "=" && !slices.Contains([]string{"else", "lambda"}, t.text):
		return "annotations are not supported in Starlark: remove ': TYPE'"
	}
	return ""
}

// opener is the bracket around the token at i.
func opener(toks []lexeme, i int) string {
	for k := i - 1; k >= 0; k-- {
		if toks[k].depth == toks[i].depth-1 && strings.Contains("([{", toks[k].text) && toks[k].text != "" {
			return toks[k].text
		}
	}
	return ""
}

func prefixHint(prefix string) string {
	switch strings.ToLower(prefix) {
	case "f", "fr", "rf":
		return "f-strings are not supported in Starlark: write \"{} and {}\".format(a, b), \"%s\" % a, or a + b"
	case "u":
		return "the prefix u is not supported in Starlark: leave it out"
	}
	return ""
}

// annotation looks for types of parameters in the def at i.
func annotation(toks []lexeme, i int) string {
	if i+2 >= len(toks) || toks[i+2].text != "(" {
		return ""
	}
	depth := toks[i+2].depth + 1
	for k := i + 3; k < len(toks) && toks[k].depth >= depth; k++ {
		if toks[k].text == ":" && toks[k].depth == depth {
			return "annotations are not supported in Starlark: remove ': TYPE' of the parameters"
		}
		if toks[k].text == "lambda" {
			return ""
		}
	}
	return ""
}

// setLiteral looks whether the brace at i opens a set: something in it, and no colon at its level.
func setLiteral(toks []lexeme, i int) string {
	depth, some := toks[i].depth+1, false
	for k := i + 1; k < len(toks); k++ {
		t := toks[k]
		switch {
		case t.text == "}" && t.depth == depth-1:
			if some {
				return "sets are not supported in Starlark: use a dict with True for values, or a list"
			}
			return ""
		case t.text == ":" && t.depth == depth, t.text == "**":
			return ""
		}
		some = true
	}
	return ""
}

// toStarlark returns the source with what Python says otherwise than Starlark, and means the same: imports of modules that are
// there already are left out, and string literals side by side are joined. Lines stay where they are.
func toStarlark(src string, toks []lexeme) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if t.kind == lexName && t.first && t.text == "import" && i+1 < len(toks) {
			name := toks[i+1]
			b.WriteString(src[done:t.start] + "pass")
			done = name.start + len(name.text)
			continue
		}
		last := i
		for last+1 < len(toks) {
			next := last + 1
			if toks[next].kind == lexName && next+1 < len(toks) && toks[next+1].kind == lexString && toks[next+1].start == toks[next].start+len(toks[next].text) && t.kind == lexString {
				next++ // r"…"
			}
			if t.kind != lexString || toks[next].kind != lexString {
				break
			}
			last = next
		}
		if last == i {
			continue
		}
		start := t.start
		if i > 0 && toks[i-1].kind == lexName && toks[i-1].start+len(toks[i-1].text) == t.start {
			start = toks[i-1].start // its prefix
		}
		b.WriteString(src[done:start] + "(")
		done = start
		for k := i; k <= last; k++ {
			if toks[k].kind != lexString {
				continue
			}
			end := toks[k].start + len(toks[k].text)
			b.WriteString(src[done:end])
			done = end
			if k < last {
				b.WriteString(" +")
			}
		}
		b.WriteString(")")
		i = last
	}
	return b.String() + src[done:]
}
