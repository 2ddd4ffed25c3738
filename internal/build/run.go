package build

import "context"

// New checks the options and finds out the columns of map functions, for which it reads the first rows. A *misuse.Error says which
// option is wrong.
func New(ctx context.Context, o Options) (*Build, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	b := &Build{opts: o}
	if err := b.learn(ctx); err != nil {
		return nil, err
	}
	b.manifest = b.newManifest()
	return b, nil
}

// Run is New followed by the Run of what it returns.
func Run(ctx context.Context, o Options) (*Result, error) {
	b, err := New(ctx, o)
	if err != nil {
		return &Result{}, err
	}
	return b.Run(ctx)
}

// Run makes the data set, or resumes a run of the same plan that was interrupted. Nothing is visible at Out before all of it is. The result
// is never nil: where an error comes after the rows were read, it has the report.
func (b *Build) Run(ctx context.Context) (*Result, error) {
	have, err := b.finished(ctx)
	if err != nil {
		return &Result{}, err
	}
	if have != nil {
		return &Result{Status: UpToDate, Manifest: have}, nil
	}
	return b.write(ctx)
}
