package fix

import (
	"errors"
	"strconv"

	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// A counted is a transform whose rejects are counted under the number of its group.
type counted struct {
	transform.RowStep
	group int
}

// Plan implements transform.RowStep.
func (t counted) Plan(in *schema.Schema) (*transform.Plan, error) {
	plan, err := t.RowStep.Plan(in)
	if err != nil || plan.Bind == nil {
		return plan, err
	}
	bind := plan.Bind
	plan.Bind = func() transform.Func {
		f := bind()
		return func(in schema.Row, out *transform.Emitter) error {
			err := f(in, out)
			var reject *transform.Reject
			if errors.As(err, &reject) {
				reject.Reason = strconv.Itoa(t.group)
			}
			return err
		}
	}
	return plan, nil
}
