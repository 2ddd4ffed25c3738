package rule

import (
	"context"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A Fix is one way in which 'lint --fix' fixes what a rule finds. It is safe where every row stays, and every value says what it
// said before. Package fixes has those that several rules use; what only one framework knows is in its folder.
type Fix struct {
	Title     string // what it does: one line, no capital, no full stop: "fills the nulls with numbers that no other row has"
	Unsafe    bool   // only with --unsafe-fixes
	Dataset   bool   // it changes all files of the dataset at once, so it is planned once for all of them
	DropsRows bool   // it leaves rows out; it is not done where no row would be left
	// Plan adds the steps that fix what was found, or returns why it cannot. It may find that there is nothing to do.
	Plan func(ctx context.Context, r FixRequest) (unfixed string, err error)
	// Check returns an error where what the user has said for the fix (Env.Agent) would be a fault itself. Nil: nothing is checked.
	Check func(*Pass) error
}

// A FixRequest asks a Fix for the steps that fix what a rule has found in one column of one file. Files are named by their numbers in
// the run.
type FixRequest interface {
	Rule() *Rule
	Env() *Env
	// Path is the column of the finding, and File its file.
	Path() schema.Path
	File() int
	// Dataset lists the files that a trainer loads together with File, File among them, in their order.
	Dataset() []int
	// Facts is what is known of a file as the steps that were planned before leave it. It must not be changed.
	Facts(file int) *File
	// Scan shows the rows of a file as the steps that were planned before leave them, in order. Their numbers count from 0.
	Scan(ctx context.Context, file int, reads []schema.Path, see func(schema.Row)) error
	// Misfit says why a transform cannot be done to a file's columns; "" where it can.
	Misfit(file int, t transform.RowStep) string
	// Add plans a transform of a file that writes the column at path.
	Add(file int, path schema.Path, t transform.RowStep)
	// StripMetadata leaves the metadata of HF datasets out of a file for which a step is planned.
	StripMetadata(file int)
}
