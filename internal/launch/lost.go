package launch

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/rlprep/rlprep/internal/launch/hydra"
	"github.com/rlprep/rlprep/schema/rule"
)

// continuedComment finds lines that may hold a comment which ends in a backslash.
var continuedComment = regexp.MustCompile(`(?m)#[^\n]*\\$`)

// asBash changes what the parser reads otherwise than bash, and keeps every place: a backslash at the end of a comment continues no
// line, and one before CR LF is an argument.
func asBash(text []byte) []byte {
	if bytes.Contains(text, []byte("\\\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\\\r\n"), []byte("\\ \n"))
	}
	for range 200 { // a comment hides those after it
		if !continuedComment.Match(text) {
			return text
		}
		f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(bytes.NewReader(text), "")
		if err != nil {
			return text
		}
		var ends []int
		syntax.Walk(f, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok {
				from := int(c.Pos().Offset())
				if end := from + bytes.IndexByte(text[from:], '\n') - 1; end > from && text[end] == '\\' {
					ends = append(ends, end)
				}
			}
			return true
		})
		if len(ends) == 0 {
			return text
		}
		text = bytes.Clone(text)
		for _, end := range ends {
			text[end] = ' '
		}
	}
	return text
}

// overrideName is what a command is called that is an override on a line of its own: a key with dots, or an operator, before '='. Without
// either it would be an assignment.
var overrideName = regexp.MustCompile(`^(?:\+\+?[\w.@/-]+|\w+(?:\.\w+)+(?:@[\w.]+)?)=`)

func lostOverride(name string) bool { return overrideName.MatchString(name) }

// loseOverrides tells the commands which of their overrides bash does not hand over.
func (sh *shell) loseOverrides(idx *wordIndex, commands []Command) {
	lines := strings.Split(string(sh.script.Text), "\n")
	crlf := 0
	for i, line := range lines {
		if strings.HasSuffix(line, "\r") {
			crlf = i + 1
			break
		}
	}
	for _, l := range sh.lost {
		if l.after == 0 {
			continue
		}
		c := &commands[l.after-1]
		key, _, _ := strings.Cut(strings.TrimLeft(l.args[0], "+~"), "=")
		s := Source{Kind: FromScript, File: idx.call(l.pos).file, Line: int(l.pos.Line())}
		what := key + "=…"
		if n := len(l.args) - 1; n > 0 {
			what += fmt.Sprintf(" and %d more", n)
		}
		text := fmt.Sprintf("bash takes %s for a command of its own: %s", what, whyLost(lines, s.Line))
		c.lost = append(c.lost, Problem{Source: s, Key: key, Text: text, Kind: rule.LostArgument})
	}
	for i := range commands {
		if c := &commands[i]; crlf > 0 && c.File == sh.script.Name && len(c.Overrides) > 0 {
			c.lost = append(c.lost, Problem{Source: Source{Kind: FromScript, File: c.File, Line: crlf}, Text: "the lines of the script end in CR LF: bash hands the CR over with the last argument, which Hydra does not read (sed -i 's/\\r$//' fixes the script)"})
		}
	}
}

// whyLost says why the line before a line does not continue.
func whyLost(lines []string, line int) string {
	for i := line - 2; i >= 0 && i < len(lines); i-- {
		text := lines[i]
		trimmed := strings.TrimSpace(text)
		switch {
		case trimmed == "":
			continue
		case strings.HasSuffix(text, "\\\r"):
			return fmt.Sprintf("a CR follows the '\\' of line %d", i+1)
		case strings.HasPrefix(trimmed, "#"):
			return fmt.Sprintf("the comment in line %d ends the command", i+1)
		case strings.HasSuffix(trimmed, "\\") && !strings.HasSuffix(text, "\\"):
			return fmt.Sprintf("a blank follows the '\\' of line %d", i+1)
		case strings.HasSuffix(text, "\\") && strings.Contains(text, "#"):
			return fmt.Sprintf("the comment in line %d ends the command", i+1)
		}
		return fmt.Sprintf("line %d does not end in '\\'", i+1)
	}
	return "the line before does not end in '\\'"
}

// lineOf returns the line at or after another on which a word stands that has no key, 0 where it is not found.
func (sh *shell) lineOf(file, arg string, from int) int {
	if file != sh.script.Name || arg == "" {
		return 0
	}
	lines := strings.Split(string(sh.script.Text), "\n")
	for i := max(from-1, 0); i < len(lines) && i < from+400; i++ {
		text := strings.TrimRight(lines[i], "\r")
		if strings.TrimSpace(arg) == "" {
			if t := strings.TrimRight(lines[i], " \t\r"); t != lines[i] && strings.HasSuffix(t, "\\") {
				return i + 1
			}
			continue
		}
		if strings.Contains(" "+text+" ", " "+arg+" ") {
			return i + 1
		}
	}
	return 0
}

// notOverrides are the arguments of a Hydra program that are neither overrides nor flags.
func (c *Command) notOverrides() (out []Problem) {
	for i, word := range c.bare {
		if c.bareAt[i].Assumed {
			continue
		}
		text := fmt.Sprintf("the argument %q is no override: it has no '=' (key=value, without blanks around the '=')", hydra.Clip(word, 60))
		if strings.TrimSpace(word) == "" {
			text = fmt.Sprintf("the argument %q is no override: a '\\' continues a line only where nothing follows it, and here a blank does", word)
			if word == "" {
				text = "an empty argument is no override"
			}
		}
		out = append(out, Problem{Source: c.bareAt[i], Text: text})
	}
	return out
}
