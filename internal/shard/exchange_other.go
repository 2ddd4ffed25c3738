//go:build !linux

package shard

import "errors"

// exchange cannot be done here.
func exchange(string, string) error { return errors.ErrUnsupported }
