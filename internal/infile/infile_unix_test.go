//go:build unix

package infile

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fifo makes a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(name, 0o666))
	return name
}

// TestOpen opens files and directories, and refuses the rest at once.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("abc"), 0o666))
	if b, err := ReadFile(file); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	if f, err := Open(dir); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	must(t, err)
	defer l.Close()
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(os.DevNull, link))
	for name, want := range map[string]string{fifo(t): "a pipe", socket: "a socket", os.DevNull: "a device", link: "a device"} {
		for _, open := range []func() error{
			func() error { _, err := Open(name); return err },
			func() error { _, err := ReadFile(name); return err },
		} {
			if err := open(); !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
	for _, name := range []string{socket, os.DevNull} {
		if _, err := ReadAll(t.Context(), name); !errors.Is(err, ErrNotRegular) {
			t.Errorf("stream %s: %v", name, err)
		}
	}
}

// TestStream reads a pipe that a writer fills, and ends with its context while it waits for a writer, and while one writes nothing.
func TestStream(t *testing.T) {
	name := fifo(t)
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(name, []byte(strings.Repeat("abc", 100_000)), 0o666) }()
	if b, err := ReadAll(t.Context(), name); err != nil || len(b) != 300_000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	must(t, <-wrote)

	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("ended")
	got := make(chan error, 1)
	go func() { _, err := Stream(ctx, name); got <- err }()
	cancel(ended)
	if err := <-got; !errors.Is(err, ended) {
		t.Errorf("without a writer: %v", err)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	go func() { _, err := ReadAll(ctx, name); got <- err }()
	w, err := os.OpenFile(name, os.O_RDWR, 0) // with a reading end of its own: the reader before may close its end only now
	must(t, err)
	defer w.Close()
	_, err = w.WriteString("a")
	must(t, err)
	cancel(ended)
	if err := <-got; !errors.Is(err, ended) {
		t.Errorf("with a writer that does not write: %v", err)
	}
}

// TestInterruptible hands on what is read, in whatever pieces, and the error at the end.
func TestInterruptible(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	b, err := io.ReadAll(Interruptible(t.Context(), strings.NewReader(text)))
	if err != nil || string(b) != text {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	r, w := io.Pipe()
	w.CloseWithError(io.ErrUnexpectedEOF)
	if _, err := io.ReadAll(Interruptible(t.Context(), r)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
