package rule

import "github.com/rlprep/rlprep/schema"

// A Launch is what a launch gives the trainer, as rules may ask. It says nothing of the trainer's own defaults: these are the
// framework's (Profile.Defaults). internal/launch reads one from scripts and YAML, ruletest from the text of an Example.
type Launch interface {
	// Value returns the value that a file or the command sets for a key, and where; Missing where neither sets it.
	Value(key string) (schema.Value, schema.Pos)
	// Document returns the YAML document that the value of the key names; Missing where it cannot be read here.
	Document(key string) schema.Value
	// MissingFiles returns the files that the launch sets for the key and that this machine does not have, as the launch
	// names them.
	MissingFiles(key string) []string
	// Operator returns the operator of the last override of the key ("=", "+", "++", "~"); "" where nothing overrides it, or
	// a file sets the key.
	Operator(key string) string
	// Refused returns what the configuration system of the trainer would refuse.
	Refused() []Refusal
	// Variable returns a variable of the environment that the launch hands to the trainer, and whether it is set.
	Variable(name string) (string, bool)
	// Module returns the Python module or file that is run ("": unknown), and where the command stands.
	Module() (string, schema.Pos)
}

// A Refusal is one argument of a launch that the trainer's configuration system refuses.
type Refusal struct {
	Key     string // "": of the command as a whole
	Message string
	Pos     schema.Pos
}

// A Profile is how the launches of a framework are read: what starts a training, and what it takes from where.
type Profile struct {
	// Command is what runs arguments that are given without one: "python3", "-m", "verl.trainer.main_ppo".
	Command []string
	// Modules are beginnings of the Python modules that train ("verl.trainer."). A module of another name trains, too, if its
	// command sets a key that begins with one of Keys.
	Modules []string
	Keys    []string
	// Builtin reports whether the framework brings a configuration of that name itself: its values are the Defaults. Nil: none.
	Builtin func(config string) bool
	// Defaults returns the framework's own values for the keys that rules and 'rlprep launch' read: nil, bool, int64, float64,
	// string or []any by key. A text "${other.key}" stands for the value of that key.
	Defaults func(Target) map[string]any
	// Target returns the target with the trainer that the launch chooses. Nil: no launch chooses one.
	Target func(Target, Launch) Target
	// TrainFiles and ValFiles are the keys that name the files of the training and the validation data.
	TrainFiles, ValFiles string
	// Kind returns the kind of rows that the program which is run takes. Nil: the first of Framework.Kinds.
	Kind func(Target, Launch) Kind
	// Facts tells what a launch decides. Nil: nothing.
	Facts func(Target, Launch) []Fact
}

// A Fact is something that a launch decides, with the keys that it follows from, the most telling first.
type Fact struct {
	Name  string
	Value schema.Value
	Keys  []string
	Note  string
}

// InLaunch is why 'lint --fix' leaves what a rule finds in a launch (Rule.Unfixed).
const InLaunch = "it lies in the launch, and only data is fixed"
