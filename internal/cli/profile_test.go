package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// pprof's files are gzip; that they hold samples is pprof's affair.
func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	p := profiles{cpu: "cpu.prof", mem: "mem.prof"}
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := p.start(path); err != nil {
		t.Fatal(err)
	}
	if err := p.stop(path); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cpu.prof", "mem.prof"} {
		b, err := os.ReadFile(path(name))
		if err != nil || !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	p = profiles{cpu: "no/such/dir"}
	if err := p.start(path); err == nil || exitCode(t.Context(), err) != exitUsage {
		t.Errorf("a bad path gave %v", err)
	}
}
