package cli

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/rlprep/rlprep/internal/hub"
	"github.com/rlprep/rlprep/internal/input"
	"github.com/rlprep/rlprep/internal/progress"
	"github.com/rlprep/rlprep/internal/source"
)

// A hubRemote is a hub.Client as source wants it. The client is made when a name first asks for one.
type hubRemote struct {
	quiet     *bool     // set by a flag
	screen    io.Writer // for progress
	fetchHint string    // how the current command is made to fetch files whole

	mu     sync.Mutex
	client *hub.Client
	shown  *progress.Downloads
}

// open returns the client that the environment asks for.
func (h *hubRemote) open() (*hub.Client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		return h.client, nil
	}
	c, err := hub.New(os.Getenv)
	if err != nil {
		return nil, err
	}
	if !*h.quiet {
		h.shown = progress.NewDownloads(h.screen)
		c.Notice, c.Progress = h.shown.Say, h.shown.At
	}
	c.Whole = h.fetchHint
	h.client = c
	return c, nil
}

// close gives back connections and takes the bar away. It may be called when nothing was opened.
func (h *hubRemote) close() {
	if h.client != nil {
		h.client.Close()
		h.shown.Done()
	}
}

// List implements source.Remote.
func (h *hubRemote) List(ctx context.Context, name string) (root, rest string, files []*source.RemoteFile, err error) {
	return input.List(ctx, name, h.open, func() { h.shown.Done() })
}
