//go:build !unix

package store

import "os"

// lockFile leaves the locking to pebble's own lock file.
func lockFile(*os.File) (held bool, err error) { return false, nil }

func unlockFile(*os.File) error { return nil }
