package cli

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// Env is the process as the commands see it.
type Env struct {
	Args      []string // without the program's name
	LookupEnv func(string) (string, bool)
	Dir       string // relative paths start here; "" is the process's own directory
	Home      string // the user's; may be ""

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	// Columns is the width of the terminal that Stdout is, 0 when it is none. May be nil.
	Columns        func() int
	StderrTerminal bool
	// Signals delivers interrupts; nil for none. After the first one ReleaseSignals is called, so that a second one kills.
	Signals        <-chan os.Signal
	ReleaseSignals func()
}

// defaultColumns is how wide tables are that no terminal limits.
const defaultColumns = 100

// columns is the width that tables have to fit: the terminal's, or what COLUMNS says, or a default.
func (e Env) columns() int {
	if e.Columns != nil {
		if n := e.Columns(); n > 0 {
			return n
		}
	}
	if n, err := strconv.Atoi(e.getenv("COLUMNS")); err == nil && n >= 40 {
		return n
	}
	return defaultColumns
}

func (e Env) getenv(name string) string {
	if e.LookupEnv == nil {
		return ""
	}
	v, _ := e.LookupEnv(name)
	return v
}

// path makes a path that a person gave absolute or relative to the process.
func (e Env) path(p string) string {
	if p == "" || filepath.IsAbs(p) || e.Dir == "" {
		return p
	}
	return filepath.Join(e.Dir, p)
}

// userDataDir is where a user's programs keep their data on this platform.
func (e Env) userDataDir() string {
	if d := e.getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "mrbench")
	}
	switch runtime.GOOS {
	case "windows":
		if d := e.getenv("LocalAppData"); d != "" {
			return filepath.Join(d, "mrbench")
		}
	case "darwin":
		if e.Home != "" {
			return filepath.Join(e.Home, "Library", "Application Support", "mrbench")
		}
	}
	if e.Home == "" {
		return ""
	}
	return filepath.Join(e.Home, ".local", "share", "mrbench")
}
