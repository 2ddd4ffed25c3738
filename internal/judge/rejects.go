package judge

import (
	"slices"

	"github.com/rlprep/rlprep/schema/rule"
)

// A BadRow is a row that a finding takes out. Row is its number in the batch.
type BadRow struct {
	Row     int
	Finding rule.Finding // of the rule with the lowest id
}

// rejects holds back what the rows of a batch give until it is known which of them stay: what is found of a row that is taken out is not
// reported, and its keys are not compared with those of other rows. The methods of a nil rejects do nothing.
type rejects struct {
	from  rule.Level
	found *Found

	row  int // that the rules see; -1: they see none
	held []BadRow
	hits int   // bytes of found.Hits before the batch
	rows []int // of each hit since then
}

// add is the sink of the rules.
func (r *rejects) add(f rule.Finding) { r.held = append(r.held, BadRow{r.row, f}) }

func (r *rejects) emitted() {
	if r != nil {
		r.rows = append(r.rows, r.row)
	}
}

// bad reports whether the finding of a row takes it out.
func (r *rejects) bad(b BadRow) bool { return b.Finding.Level >= r.from }

// undo forgets what was held back where it would fail the job, and reports whether it did.
func (r *rejects) undo() bool {
	if r == nil || !slices.ContainsFunc(r.held, r.bad) {
		return false
	}
	r.held = r.held[:0]
	return true
}

// flush reports what was held back.
func (r *rejects) flush() {
	if r == nil {
		return
	}
	for _, b := range r.held {
		r.found.Add(b.Finding)
	}
	r.held = r.held[:0]
}

// begin begins a batch.
func (r *rejects) begin() {
	if r != nil {
		r.row, r.hits, r.rows = -1, len(r.found.Hits), r.rows[:0]
	}
}

func (r *rejects) at(row int) {
	if r != nil {
		r.row = row
	}
}

// end returns the rows of the batch that are taken out, in order, and reports what was found of the others.
func (r *rejects) end() []BadRow {
	if r == nil {
		return nil
	}
	var out []BadRow
	at := map[int]int{} // in out, by row
	for _, b := range r.held {
		if !r.bad(b) || b.Row < 0 {
			continue
		}
		if i, ok := at[b.Row]; !ok {
			at[b.Row] = len(out)
			out = append(out, b)
		} else if b.Finding.Rule.ID < out[i].Finding.Rule.ID {
			out[i] = b
		}
	}
	stays := func(row int) bool { _, bad := at[row]; return !bad }
	r.held = slices.DeleteFunc(r.held, func(b BadRow) bool { return !stays(b.Row) })
	r.flush()
	hits := r.found.Hits[:r.hits]
	for i, row := range r.rows {
		if stays(row) {
			hits = append(hits, r.found.Hits[r.hits+i*hitSize:][:hitSize]...)
		}
	}
	r.found.Hits = hits
	slices.SortFunc(out, func(a, b BadRow) int { return a.Row - b.Row })
	return out
}
