package schema

import (
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	of := func(fields ...Field) *Schema { return &Schema{Fields: fields} }
	a, b, c := NewField("a", Int64Type), NewField("b", StringType), NewField("b", Int64Type)
	for _, x := range []struct {
		before, after *Schema
		want          string
	}{
		{of(a, b), of(a, b), ""},
		{of(a, b), of(a), "-b: string"},
		{of(a), of(a, b), "+b: string"},
		{of(a, b), of(a, c), "-b: string +b: int64"},
		{of(a, b), of(b, a), "-columns a, b +columns b, a"},
	} {
		if got := strings.Join(Changes(x.before, x.after), " "); got != x.want {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
}
