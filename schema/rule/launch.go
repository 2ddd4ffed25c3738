package rule

import (
	"path"
	"slices"

	"github.com/rlprep/rlprep/schema"
)

// A Launch is what a launch gives the trainer, as rules may ask. internal/launch reads one from scripts and YAML, ruletest from the text of an Example.
type Launch interface {
	// Value returns the value that a file or the command sets for a key, and where; Missing where neither sets it.
	Value(key string) (schema.Value, schema.Pos)
	// Whole reports whether all arguments of the command are known: none of them is a placeholder for more, and it is no
	// configuration without its command.
	Whole() bool
	// Keys returns the keys of the values that a file or the command sets, without those that hold a placeholder for what the
	// launch asks for.
	Keys() []string
	// Default returns the value that the trainer's own configuration has for a key that the launch does not set; Missing where it
	// has none, or is not known.
	Default(key string) schema.Value
	// Document returns the YAML document that the value of the key names; Missing where it cannot be read here.
	Document(key string) schema.Value
	// DocumentError returns why the YAML document that the value of the key names does not parse, with its place; "" where it
	// does, or is not here.
	DocumentError(key string) string
	// Python returns the text of the .py file that the value of the key names, and whether it can be read here.
	Python(key string) (string, bool)
	// NearFile returns the file that lies in the folder of a missing one and has a name like it; "" none.
	NearFile(name string) string
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
	Kind    RefusalKind
}

// A RefusalKind says what is wrong with an argument.
type RefusalKind uint8

// The kinds of refusals.
const (
	BadArgument  RefusalKind = iota // the configuration system does not read it
	UnknownKey                      // the key, or the choice of a group, is none of the configuration, or is there already
	LostArgument                    // the shell does not hand it over
)

// A Profile is how the launches of a framework are read: what starts a training, and what it takes from where.
type Profile struct {
	// Command is what runs arguments that are given without one: "python3", "-m", "verl.trainer.main_ppo".
	Command []string
	// Modules are beginnings of the Python modules that train ("verl.trainer."). A module of another name trains, too, if its
	// command sets a key that begins with one of Keys.
	Modules []string
	Keys    []string
	// Configs returns the configurations that the framework brings in a version. Nil: it brings none.
	Configs func(Target) *Configs
	// Target returns the target with the trainer that the launch chooses. Nil: no launch chooses one.
	Target func(Target, Launch) Target
	// TrainFiles and ValFiles are the keys that name the files of the training and the validation data.
	TrainFiles, ValFiles string
	// Kind returns the kind of rows that the program which is run takes, Any where it is not known. Nil: the first of Framework.Kinds.
	Kind func(Target, Launch) Kind
	// Facts tells what a launch decides, with the files of training data that it names: how many steps it takes depends on their rows. Without
	// files those are not known. Nil: it decides nothing.
	Facts func(t Target, l Launch, train []*File) []Fact
}

// Configs are the configurations that a release of a framework brings, as files of Hydra. They are not changed.
type Configs struct {
	// Files are the texts of the files, as YAML, by path without suffix: "verl/trainer/config/actor/dp_actor".
	Files map[string]string
	// Mains name the file of each program, by its module: "verl.trainer.main_ppo": "verl/trainer/config/ppo_trainer".
	Mains map[string]string
	// Base is the file whose values hold where the file of a launch is not known.
	Base string
	// Other returns the configurations and the name of a version that has a program which this one does not have; nil where none
	// has it. Nil: they are not known.
	Other func(module string) (*Configs, string)
	// Versions names the versions whose configuration of a program has a key, or keys below it. Nil: they are not known.
	Versions func(module, key string) []string
}

// Options returns the names of the files of a folder, sorted.
func (c *Configs) Options(folder string) (names []string) {
	for name := range c.Files {
		if path.Dir(name) == folder {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names
}

// A Fact is something that a launch decides, with the keys that it follows from, the most telling first.
type Fact struct {
	Group string // under which it is shown: "data", "trainer"; "": none
	Minor bool   // it matters only where the launch sets it
	Name  string
	Value schema.Value // null with a Note: not known, and what is needed to know it
	Keys  []string
	Note  string
}

// InLaunch is why 'lint --fix' leaves what a rule finds in a launch (Rule.Unfixed).
const InLaunch = "the fault is in the launch; --fix changes data files only"
