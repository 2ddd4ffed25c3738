package report

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rlprep/rlprep/internal/escape"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// plural returns "1 file", "2,114 files".
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// thousands returns n with commas: 2,114.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// where returns the position as a line of text begins: "train.parquet: row 1: agent_name".
func where(p schema.Pos) string { return escape.Text(p.String()) }

// what returns the message, and the value found where the message does not hold it.
func what(f rule.Finding) string {
	if f.Value == "" || hasWord(f.Message, strings.Trim(f.Value, `"`)) {
		return escape.Text(f.Message)
	}
	return escape.Text(f.Message) + " (found " + escape.Text(f.Value) + ")"
}

// hasWord reports whether message holds value as a word or words of its own.
func hasWord(message, value string) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; value != ""; {
		i := strings.Index(message[at:], value)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(message[:at])
		after, n := utf8.DecodeRuneInString(message[at+len(value):])
		if !inWord(before) && (n == 0 || !inWord(after)) {
			return true
		}
		_, n = utf8.DecodeRuneInString(message[at:])
		at += n
	}
	return false
}

// tag returns "[RL301 agent-name-null]", with the level where it is not error.
func tag(f rule.Finding) string {
	s := "[" + f.Rule.ID + " " + f.Rule.Name
	if f.Level != rule.Error {
		s += ", " + f.Level.String()
	}
	return s + "]"
}

// remedyLines returns what to do about e: "help: …" and "fix: COMMAND" where there is a remedy, else "more: …", where to read on.
func (e group) remedyLines() (lines []string) {
	if note := e.remedy.Note; note != "" {
		lines = append(lines, "help: "+escape.Text(note))
	}
	if command := e.remedy.Command; command != "" {
		return append(lines, "fix: "+escape.Text(command))
	}
	return append(lines, "more: rlprep explain "+e.Rule.ID)
}

// counted returns "(2,117 rows)" for an entry that stands for more than it shows, else "".
func counted(e group) string {
	if e.count <= 1 {
		return ""
	}
	noun := "row"
	if e.Pos.Row < 0 {
		noun = "place"
	}
	return "(" + plural(e.count, noun) + ")"
}

// sentence says what was found for readers that show file and line themselves: row (of a file without lines) and column, what is
// there, how often.
func sentence(e group) string {
	inFile := e.Pos
	inFile.File = ""
	if inFile.Line >= 1 {
		inFile.Line, inFile.Row, inFile.RowGroup = -1, -1, -1
	}
	text := what(e.Finding)
	if at := strings.TrimPrefix(where(inFile), ": "); at != "" {
		text = at + ": " + text
	}
	if n := counted(e); n != "" {
		text += " " + n
	}
	return text
}

// appendFile lets write append to the file name through a buffer; the first error counts.
func appendFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
