package input

import (
	"context"

	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/source"
)

// List returns the files of a Hub that name, an hf:// address, means, as source.Remote has it. open returns the client and is called for an address
// that can be one; fetched is called whenever a file was fetched, or could not be.
func List(ctx context.Context, name string, open func() (*hub.Client, error), fetched func()) (root, rest string, files []*source.RemoteFile, err error) {
	a, err := hub.Parse(name)
	if err != nil {
		return "", "", nil, err
	}
	c, err := open()
	if err != nil {
		return "", "", nil, err
	}
	snap, err := c.Snapshot(ctx, a)
	if err != nil {
		return "", "", nil, err
	}
	found, err := snap.List(ctx, a.Path)
	if err != nil {
		return "", "", nil, err
	}
	for _, f := range found {
		files = append(files, &source.RemoteFile{Path: f.Path, Size: f.Size, SHA256: f.SHA256(), Address: f.Address(),
			Dataset: a.Repo, Version: snap.Commit, Cached: f.Cached, ReaderAt: f.ReaderAt,
			Fetch: func(ctx context.Context) (string, error) {
				defer fetched()
				return f.Fetch(ctx)
			}})
	}
	return snap.Address.String() + "/", a.Path, files, nil
}
