package launch

import (
	"context"
	"slices"
	"testing"
)

// TestLost holds what bash 5.2 hands over, and what it does not.
func TestLost(t *testing.T) {
	const start = "python3 -m p.main n=2 \\\n"
	for _, c := range []struct {
		what, script string
		args         []string
		want         []string // line, key and text of each problem
	}{
		{"nothing", start + " logger=[a]\n", nil, nil},
		{"a comment line", start + "# none=1 \\\n model.actor.rate=2\n", nil, []string{"3 model.actor.rate bash takes model.actor.rate=… for a command of its own: the comment in line 2 ends the command"}},
		{"a comment at the end", "python3 -m p.main n=2 # two \\\n model.actor.rate=2 +x.y=1\n", nil, []string{"2 model.actor.rate bash takes model.actor.rate=… and 1 more for a command of its own: the comment in line 1 ends the command"}},
		{"two comment lines", start + "# a \\\n# b \\\n ++x.y=1\n", nil, []string{"4 x.y bash takes x.y=… for a command of its own: the comment in line 3 ends the command"}},
		{"no backslash", "python3 -m p.main n=2\n model.actor.rate=2\n", nil, []string{"2 model.actor.rate bash takes model.actor.rate=… for a command of its own: line 1 does not end in '\\'"}},
		{"a blank after it", "python3 -m p.main n=2 \\ \n model.actor.rate=2\n", nil, []string{
			"1  the argument \" \" is no override: a '\\' continues a line only where nothing follows it, and here a blank does",
			"2 model.actor.rate bash takes model.actor.rate=… for a command of its own: a blank follows the '\\' of line 1"}},
		{"CR LF", "python3 -m p.main n=2 \\\r\n model.actor.rate=2\r\n", nil, []string{
			"1  the argument \" \" is no override: a '\\' continues a line only where nothing follows it, and here a blank does",
			"2 model.actor.rate bash takes model.actor.rate=… for a command of its own: a CR follows the '\\' of line 1",
			"1  the lines of the script end in CR LF: bash hands the CR over with the last argument, which Hydra does not read (sed -i 's/\\r$//' fixes the script)"}},
		{"blanks around =", start + " n = 3\n", nil, []string{
			"2  the argument \"n\" is no override: it has no '=' (key=value, without blanks around the '=')",
			"2  the argument \"3\" is no override: it has no '=' (key=value, without blanks around the '=')"}},
		{"an empty argument", "python3 -m p.main n=2 \"$NONE\"\n", nil, []string{"1  an empty argument is no override"}},
		{"another program's words", "python3 prepare.py --out x y\n", nil, nil},
		{"an assignment", "python3 -m p.main n=2\nname=x\n", nil, nil},
		{"a comment in quotes", "python3 -m p.main n=2 \\\n data.files='\"# a \\\nb\"'\n", nil, nil},
	} {
		res, err := Interpret(context.Background(), &Script{Name: "run.sh", Text: []byte(c.script), Dir: t.TempDir(), Cwd: t.TempDir(), Args: c.args})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range res.Commands {
			for _, p := range Compose(&res.Commands[i], Options{Configs: own, Version: "p 3"}).Problems {
				got = append(got, place(p.Source)+" "+p.Key+" "+p.Text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.what, got, c.want)
		}
	}
}

func place(s Source) string {
	if s.Kind == FromArgument {
		return "argument"
	}
	return string(rune('0' + s.Line))
}

// An override that the user adds after the script shows that it is theirs, also where the script sets the key.
func TestArgumentSource(t *testing.T) {
	res, err := Interpret(context.Background(), &Script{Name: "run.sh", Text: []byte("python3 -m p.main n=2 $1 \"$@\"\n"), Dir: t.TempDir(), Cwd: t.TempDir(), Args: []string{"n=3"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range res.Commands[0].Overrides {
		got = append(got, o.Text+" "+place(o.Source))
	}
	if want := []string{"n=2 1", "n=3 argument", "n=3 argument"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
