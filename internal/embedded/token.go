package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The user that other processes of the data directory's owner log in as, with the password that is in the directory.
const (
	TokenUser   = "__system"
	TokenSource = "local" // its authentication database
)

// tokenName is the file with that password. It is new each time the directory is opened, and gone when it is not served.
const tokenName = "mrbench.token"

type tokenFile struct{ path, text string }

// newToken replaces what an earlier process may have left. nil: this one asks nobody for a password, or has no directory.
func newToken(c Config) (*tokenFile, error) {
	if c.FS != nil {
		return nil, nil
	}
	t := &tokenFile{filepath.Join(c.Dir, tokenName), rand.Text() + rand.Text()}
	if err := os.Remove(t.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("token of an earlier process: %w", err)
	}
	if !c.Auth {
		return nil, nil
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("token for this machine's other processes: %w", err)
	}
	_, err = f.WriteString(t.text)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("token for this machine's other processes: %w", err)
	}
	return t, nil
}

func (t *tokenFile) secret() string {
	if t == nil {
		return ""
	}
	return t.text
}

func (t *tokenFile) remove() {
	if t != nil {
		_ = os.Remove(t.path) // the next Open tries again
	}
}

// Token reads the password with which the process that serves dir is joined. It is "" when that process asks for none.
func Token(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, tokenName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}
