// Package nolog sends the standard logger nowhere, before any package of a dependency starts. go.starlark.net writes a line to it,
// at the start of every command, where it may not reserve 4 GB of addresses (ulimit -v, as batch systems set it); integers are then
// somewhat slower there, and nothing of ours logs.
//
// It works because Go starts packages that depend on nothing else by import path, and this one comes before go.starlark.net.
package nolog

import (
	"io"
	"log"
)

func init() { log.SetOutput(io.Discard) }
