//go:build unix

package store

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is being started has all files of this one for a moment. It must not keep the directory locked.
func TestReleasedWhileSomebodyHasTheFile(t *testing.T) {
	dir := t.TempDir()
	l, err := lockDir(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	dup, err := unix.Dup(int(l.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dup)
	if _, err := lockDir(dir, ""); err == nil {
		t.Error("locked twice")
	}
	l.release()
	l, err = lockDir(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	l.release()
}
