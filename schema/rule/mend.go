package rule

import "github.com/rlprep/rlprep/schema"

// An Action is a kind of change by which 'lint --fix' mends what a rule finds; internal/mend carries it out. Where nothing else
// is said it changes the file and the column of the finding.
type Action uint8

// The actions.
const (
	// FillIndex writes extra_info.index where it is null or missing in the dataset, with numbers that no row has.
	FillIndex Action = iota + 1
	// RenumberIndex gives every row whose extra_info.index a row before it has a number that none has.
	RenumberIndex
	// CastIndex makes extra_info.index an integer in every file of the dataset where it is a float.
	CastIndex
	// MoveIndex moves the column index to extra_info.index.
	MoveIndex
	// OneType gives the column the same type in all files of the dataset where that changes no value: the widest integer, text and
	// lists of one form, for what is only ever null the type that it has elsewhere; and the columns and fields the same order.
	OneType
	// NumberType makes texts and floats integers in all files of the dataset, where some hold integers; TextType makes integers
	// texts, where some hold text.
	NumberType
	TextType
	// AsText says of bytes that are UTF-8 that they are text.
	AsText
	// WriteAnew writes the file anew as it is: without empty row groups.
	WriteAnew
	// StripMetadata writes the file anew without the metadata that no reader understands.
	StripMetadata
	// DropColumn drops the column.
	DropColumn
	// DropNull drops the column in every file of the dataset, if it is of null type in all of them.
	DropNull
	// SetAgent writes the agent that --agent names where the column is null or missing; ReplaceAgent where Known does not know
	// what is there.
	SetAgent
	ReplaceAgent
	// EachText makes each text of the column anew, by Text.
	EachText
	// EachValue makes each value anew, by Value.
	EachValue
	// ReadJSON makes texts that hold JSON objects or lists, all of the same keys, structs or lists.
	ReadJSON
	// RenameFields gives fields of the struct other names, by Names: where the old one is there and the new one is not.
	RenameFields
	// DropRows leaves out the rows that the rule finds at its own level.
	DropRows
)

// A Mend is one way in which 'lint --fix' mends what a rule finds. It is safe where every row stays, and every value that was
// there says what it said.
type Mend struct {
	Do     Action
	Unsafe bool   // only with --unsafe-fixes
	Does   string // one line, no capital, no full stop: "fills the nulls with numbers that no other row has"

	Text  func(string) string
	Value *Value
	Known func(*Pass) func(agent string) bool
	Names [][2]string
	Strip func(*File) bool // of StripMetadata: that of HF datasets goes too
}

// A Value makes a value anew out of its row. Its functions are called by many workers.
type Value struct {
	Path  schema.Path
	Reads []schema.Path // what New sees
	// Type is the type that the column gets, of the one that it has (Missing: there is no such column); false: it cannot be
	// done. Nil: a text stays one, and another column cannot be done.
	Type func(schema.Type) (schema.Type, bool)
	// New returns the value, which may be the one that is there; or why there is none: then the column is left as it is.
	New func(schema.Row) (v schema.Value, why string)
}
