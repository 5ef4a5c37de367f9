package throwaway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Auto stands for the mongod that is found on PATH.
const Auto = "auto"

// BinaryError means that there is no usable program: none found, another program, or one that does not run.
type BinaryError struct{ Text string }

func (e *BinaryError) Error() string { return e.Text }

func unusable(format string, args ...any) error { return &BinaryError{fmt.Sprintf(format, args...)} }

// binary is a program and what it says of itself.
type binary struct {
	path    string
	version string // such as "4.0.3"
	major   string // such as "4.0"
}

// versionTimeout is long enough for a cold disk.
const versionTimeout = 20 * time.Second

// The first line of --version, of mongod and of mongos.
var versionLine = regexp.MustCompile(`(?m)^(db|mongos) version v((\d+)\.(\d+)\.\S+)`)

// findMongod finds the program that path names: a file, a directory with it, or Auto.
func findMongod(ctx context.Context, path string) (binary, error) {
	if path == Auto {
		found, err := exec.LookPath("mongod")
		if err != nil {
			return binary{}, unusable("there is no mongod on PATH: name the program with --mongod PATH, or use a server with --uri")
		}
		path = found
	}
	if st, err := os.Stat(path); err != nil {
		return binary{}, unusable("%v: --mongod names the program mongod, or is auto for the one on PATH", err)
	} else if st.IsDir() {
		path = filepath.Join(path, executable("mongod"))
		if _, err := os.Stat(path); err != nil {
			return binary{}, unusable("%v: --mongod names the program mongod, or the directory that it is in", err)
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return binary{}, unusable("%s: %v", path, err)
	}
	return ask(ctx, path, "mongod", "db")
}

// findMongos finds mongos beside mongod, or on PATH. It has to be of the same release.
func findMongos(ctx context.Context, mongod binary) (binary, error) {
	places := []string{filepath.Dir(mongod.path)}
	if real, err := filepath.EvalSymlinks(mongod.path); err == nil {
		places = append(places, filepath.Dir(real))
	}
	path := ""
	for _, dir := range places {
		p := filepath.Join(dir, executable("mongos"))
		if st, err := os.Stat(p); err == nil && !st.IsDir() {
			path = p
			break
		}
	}
	if path == "" {
		found, err := exec.LookPath("mongos")
		if err != nil {
			return binary{}, unusable("a sharded cluster needs mongos, which is neither beside %s nor on PATH", mongod.path)
		}
		path = found
	}
	b, err := ask(ctx, path, "mongos", "mongos")
	if err == nil && b.major != mongod.major {
		err = unusable("%s is version %s and %s is %s: a cluster needs both of one release", mongod.path, mongod.version, b.path, b.version)
	}
	return b, err
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// ask runs the program with --version. name is what it should be, word what its answer begins with then.
func ask(ctx context.Context, path, name, word string) (binary, error) {
	limited, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, path, "--version")
	cmd.WaitDelay = time.Second
	apart(cmd)
	out, err := cmd.CombinedOutput()
	text := shorten(strings.Join(strings.Fields(string(out)), " "), 160)
	exit, exited := errors.AsType[*exec.ExitError](err)
	m := versionLine.FindStringSubmatch(string(out))
	switch {
	case ctx.Err() != nil:
		return binary{}, context.Cause(ctx)
	case limited.Err() != nil:
		return binary{}, unusable("%s is not %s: it did not end within %v of being asked for its --version", path, name, versionTimeout)
	case exited:
		return binary{}, unusable("%s --version failed, %s: %s", path, ending(exit.ProcessState), said(text))
	case err != nil:
		return binary{}, unusable("%s can't be run: %v", path, reason(err))
	case m == nil:
		return binary{}, unusable("%s is not %s: asked for its --version it said %s", path, name, said(text))
	case m[1] != word:
		return binary{}, unusable("%s is not %s: its --version says %q", path, name, m[0])
	}
	major, _ := strconv.Atoi(m[3])
	minor, _ := strconv.Atoi(m[4])
	if major < 3 || major == 3 && minor < 6 {
		return binary{}, unusable("%s is version %s: mrbench works with MongoDB 3.6 and later", path, m[2])
	}
	return binary{path: path, version: m[2], major: m[3] + "." + m[4]}, nil
}

// reason is what the system said, without the path again.
func reason(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return e.Err
	}
	return err
}

// ending says how a process ended.
func ending(s *os.ProcessState) string {
	if s.Exited() {
		return fmt.Sprintf("exit code %d", s.ExitCode())
	}
	return s.String() // "signal: killed"
}

func said(text string) string {
	if text == "" {
		return "nothing"
	}
	return strconv.Quote(text)
}

// shorten keeps the beginning of a text.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
