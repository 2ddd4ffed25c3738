//go:build !unix

package infile

import "os"

func openNow(name string) (*os.File, error) { return os.Open(name) }
