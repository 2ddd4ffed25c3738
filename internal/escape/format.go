package escape

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Fprintf is fmt.Fprintf whose arguments go through Text: a line feed of the format is one, that of an argument is shown as "\n".
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	return io.WriteString(w, Sprintf(format, args...))
}

// Fprintln writes its arguments, which go through Text, as a line, with blanks between them.
func Fprintln(w io.Writer, args ...any) (int, error) {
	return fmt.Fprintln(w, safeArgs(args)...)
}

// Sprintf is fmt.Sprintf whose arguments go through Text.
func Sprintf(format string, args ...any) string { return fmt.Sprintf(format, safeArgs(args)...) }

// Raw is text that is safe already, which Fprintf and its like leave as it is, line feeds too.
type Raw string

func safeArgs(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Raw:
			out[i] = string(a)
		case nil, bool, int, int64, uint64, float64: // a width, too
			out[i] = a
		default:
			out[i] = arg{a}
		}
	}
	return out
}

// An arg is an argument whose text is not known to be safe.
type arg struct{ v any }

// Format implements fmt.Formatter. Text is escaped before it is padded.
func (a arg) Format(f fmt.State, verb rune) {
	v := a.v
	if verb == 's' || verb == 'v' {
		if s, ok := text(v); ok {
			v = Text(s)
		}
	}
	_, _ = io.WriteString(f, Text(fmt.Sprintf(fmt.FormatString(f, verb), v)))
}

// text is the text of a value that is one, or that has one.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case error:
		return v.Error(), true
	case fmt.Stringer:
		return v.String(), true
	case []byte:
		return string(v), true
	}
	r := reflect.ValueOf(v)
	return r.String(), r.Kind() == reflect.String
}

// Error returns the lines of err, each safe. Errors that were joined have a line each; any other line feed is one of some text in the message.
func Error(err error) []string {
	switch e := err.(type) { //nolint:errorlint // this level of the error, not those below
	case interface{ Unwrap() []error }:
		var lines []string
		for _, one := range e.Unwrap() {
			lines = append(lines, Error(one)...)
		}
		if text := err.Error(); joined(e.Unwrap()) == text {
			return lines
		}
	case interface{ Unwrap() error }:
		inner := e.Unwrap()
		if inner == nil {
			break
		}
		before, after, ok := strings.Cut(err.Error(), inner.Error())
		if lines := Error(inner); ok && len(lines) > 1 {
			lines[0] = Text(before) + lines[0]
			lines[len(lines)-1] += Text(after)
			return lines
		}
	}
	return []string{Text(err.Error())}
}

func joined(errs []error) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "\n")
}
