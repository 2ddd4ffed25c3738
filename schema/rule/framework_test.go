package rule_test

import (
	"strings"
	"testing"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/schema/rule"
)

// Two frameworks and what every framework has, as folders of schema/ register them.
var (
	alpha = rule.Register(rule.Framework{Name: "alpha", Default: true,
		Versions: []rule.Version{{Name: "0.8", Trainers: []string{"old"}}, {Name: "0.9", Trainers: []string{"old"}}, {Name: "0.10", Trainers: []string{"new", "old"}}},
		Kinds:    []rule.Rows{{Kind: rule.RL}, {Kind: rule.SFT, Is: func(s *schema.Schema) bool { _, i := s.Column("messages"); return i >= 0 }}}})
	beta   = rule.Register(rule.Framework{Name: "beta", Versions: []rule.Version{{Name: "3"}}, Kinds: []rule.Rows{{Kind: "pairs"}}})
	loader = rule.Register(rule.Framework{Name: "loader"})

	alphaRule  = alpha.Add(rule.Rule{ID: "AL001", Name: "alpha-rule", Applies: []rule.Severity{{Versions: ">=0.9", Trainer: "old", Level: rule.Error}, {Versions: ">=0.9", Level: rule.Info}}})
	betaRule   = beta.Add(rule.Rule{ID: "BE001", Name: "beta-rule", Applies: []rule.Severity{{Level: rule.Error}}})
	loaderRule = loader.Add(rule.Rule{ID: "LO001", Name: "loader-rule", Applies: []rule.Severity{{Level: rule.Warning}}})
)

func TestParseTarget(t *testing.T) {
	for in, want := range map[string]string{
		"alpha": "alpha@0.10", "alpha@0.10": "alpha@0.10", "alpha@0.10-old": "alpha@0.10-old", "alpha@0.10-new": "alpha@0.10",
		"alpha@0.9": "alpha@0.9", "alpha@0.9.7": "alpha@0.9", "alpha@0.9-old": "alpha@0.9", "beta@3": "beta@3", "beta@3.1.4": "beta@3", "beta": "beta@3",
	} {
		got, err := rule.ParseTarget(in)
		if err != nil || got.String() != want {
			t.Errorf("ParseTarget(%q) = %s, %v; want %s", in, got, err, want)
		}
		if again, err := rule.ParseTarget(got.String()); err != nil || again != got {
			t.Errorf("ParseTarget(%q) = %v, %v; want %v", got.String(), again, err, got)
		}
	}
	const all = " (alpha@0.8 to alpha@0.10, alpha@0.10-old, beta@3)"
	for in, want := range map[string]string{
		"gamma@1": `unknown target "gamma@1"` + all, "alpha@0.1": `unknown target "alpha@0.1"` + all, "alpha@": `unknown target "alpha@"` + all, "": `unknown target ""` + all,
		"loader": `unknown target "loader"` + all, "alpha@0.9-new": `unknown trainer in target "alpha@0.9-new" (old; new from alpha@0.10 on)`,
		"beta@3-old": `unknown trainer in target "beta@3-old" (beta has one trainer, without a name)`,
	} {
		if got, err := rule.ParseTarget(in); err == nil || err.Error() != want || got != (rule.Target{}) {
			t.Errorf("ParseTarget(%q) = %s, %v; want the error %s", in, got, err, want)
		}
	}
	if got := rule.DefaultTarget(); got != alpha.Latest() {
		t.Errorf("DefaultTarget() = %s", got)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		target, versions string
		want             bool
	}{
		{"alpha@0.9", "", true}, {"alpha@0.9", "0.9", true}, {"alpha@0.9", "0.8", false}, {"alpha@0.10", ">=0.9", true}, {"alpha@0.9", ">=0.10", false},
		{"alpha@0.9", ">=0.8 <0.10", true}, {"alpha@0.10", ">=0.8 <0.10", false}, {"alpha@0.8", "<=0.8", true}, {"alpha@0.8", "<0.8", false}, {"alpha@0.9", ">0.8", true},
	} {
		target, err := rule.ParseTarget(c.target)
		if err != nil {
			t.Fatal(err)
		}
		if got := target.Within(c.versions); got != c.want {
			t.Errorf("%s within %q: %v", c.target, c.versions, got)
		}
	}
	if none := (rule.Target{}); !none.Within("") || none.Within("<9") || none.Within(">=0") {
		t.Error("the zero Target lies in some versions")
	}
}

// A rule applies to its own framework's targets only; a loader's rule applies to every target.
func TestSeverity(t *testing.T) {
	for _, c := range []struct {
		rule   *rule.Rule
		target string
		want   rule.Level
	}{
		{alphaRule, "alpha@0.8", rule.Off}, {alphaRule, "alpha@0.9", rule.Error}, {alphaRule, "alpha@0.10", rule.Info}, {alphaRule, "alpha@0.10-old", rule.Error},
		{alphaRule, "beta@3", rule.Off}, {betaRule, "beta@3", rule.Error}, {betaRule, "alpha@0.10", rule.Off}, {loaderRule, "alpha@0.8", rule.Warning}, {loaderRule, "beta@3", rule.Warning},
	} {
		target, err := rule.ParseTarget(c.target)
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := c.rule.Severity(target); s.Level != c.want {
			t.Errorf("%s for %s: %s, want %s", c.rule.ID, c.target, s.Level, c.want)
		}
		if _, on := rule.NewPass(c.rule, &rule.Env{Target: target}); on != (c.want != rule.Off) {
			t.Errorf("%s for %s runs: %v", c.rule.ID, c.target, on)
		}
	}
}

func TestKinds(t *testing.T) {
	messages := &schema.Schema{Fields: []schema.Field{schema.NewField("messages", schema.StringType)}}
	for _, c := range []struct {
		of      *rule.Framework
		columns *schema.Schema
		want    rule.Kind
	}{{alpha, messages, rule.SFT}, {alpha, &schema.Schema{}, rule.RL}, {beta, messages, "pairs"}, {loader, messages, rule.Any}} {
		if got := c.of.Latest().KindOf(c.columns); got != c.want {
			t.Errorf("%s: KindOf(%v) = %s, want %s", c.of.Name, c.columns.Names(), got, c.want)
		}
	}
	if got := strings.Join(rule.KindNames(), " "); got != "rl sft pairs" {
		t.Errorf("KindNames() = %s", got)
	}
	if k, err := rule.ParseKind("pairs"); err != nil || k != "pairs" {
		t.Errorf("ParseKind(pairs) = %s, %v", k, err)
	}
	if _, err := rule.ParseKind("dpo"); err == nil || err.Error() != "dpo: expected rl, sft or pairs" {
		t.Errorf("ParseKind(dpo): %v", err)
	}
	if err := beta.Latest().CheckKind(rule.RL); err == nil || err.Error() != "beta@3 takes no rl rows (pairs)" {
		t.Errorf("CheckKind(rl): %v", err)
	}
	if alpha.Latest().CheckKind(rule.SFT) != nil || beta.Latest().CheckKind(rule.Any) != nil {
		t.Error("a kind that the framework takes is refused")
	}
}

func TestRegisterTwice(t *testing.T) {
	for what, f := range map[string]func(){
		"a name that is taken": func() { rule.Register(rule.Framework{Name: "alpha"}) },
		"no name":              func() { rule.Register(rule.Framework{}) },
		"a second default":     func() { rule.Register(rule.Framework{Name: "gamma", Default: true}) },
		"an id that is taken":  func() { beta.Add(rule.Rule{ID: "AL001"}) },
		"no id":                func() { beta.Add(rule.Rule{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			f()
		}()
	}
}
