package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// latest is the word for the newest result of the data directory; latest~1 is the one before.
const latest = "latest"

// picked is what an argument that names a result stands for.
type picked struct {
	name string          // for people
	runs []*bench.Result // the run that is meant is last; before it come those of the file, when the file as a whole was named
}

func (p picked) result() *bench.Result { return p.runs[len(p.runs)-1] }

// pick finds the results that arguments name: a file, of which the last run is meant, a run's id or its first
// characters, or latest. Each can be followed by ~1 for the one before, ~2, and so on. A file that is named several times
// stands for its last runs, in their order.
func (a *app) pick(args []string) ([]picked, error) {
	var all []picked
	for i, arg := range args {
		later := 0 // how often the same argument comes again
		for _, b := range args[i+1:] {
			if b == arg {
				later++
			}
		}
		p, err := a.pickOne(arg, later)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (a *app) pickOne(arg string, back int) (picked, error) {
	name, n := arg, 0
	if file := a.env.path(arg); isFile(file) {
		return fileRun(file, back)
	}
	if before, after, ok := strings.Cut(arg, "~"); ok {
		var err error
		if n, err = strconv.Atoi(after); err != nil || n < 0 {
			return picked{}, usageError("%q: a number follows ~, as in %s~1", arg, latest)
		}
		name = before
	}
	if file := a.env.path(name); isFile(file) {
		return fileRun(file, n+back)
	}
	dir, err := a.dataDir()
	if err != nil {
		return picked{}, err
	}
	names, err := resultFiles(resultsDir(dir))
	if err != nil {
		return picked{}, err
	}
	end := len(names)
	if name != latest {
		if filepath.Ext(name) != "" || strings.ContainsAny(name, `/\`) {
			_, err := os.Stat(a.env.path(name))
			return picked{}, usageError("result file: %w", err)
		}
		var found []int
		for i, file := range names {
			if strings.HasPrefix(file, name) {
				found = append(found, i)
			}
		}
		switch len(found) {
		case 0:
			return picked{}, usageError("%q is no result file, no run of %s and not %s", arg, resultsDir(dir), latest)
		case 1:
			end = found[0]
			if n+back == 0 {
				return fileRun(filepath.Join(resultsDir(dir), names[end]), 0)
			}
			n--
		default:
			return picked{}, usageError("%q is the start of %d runs: %s; write more of it", arg, len(found), someNames(names, found))
		}
	}
	return newest(resultsDir(dir), names[:end], n+back)
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir()
}

func someNames(names []string, which []int) string {
	var some []string
	for _, i := range which[:min(len(which), 4)] {
		some = append(some, strings.TrimSuffix(names[i], ".ndjson"))
	}
	if len(which) > len(some) {
		some = append(some, "…")
	}
	return strings.Join(some, ", ")
}

// fileRun is the run of a file that has back others after it.
func fileRun(file string, back int) (picked, error) {
	rs, err := bench.Load(file)
	if err != nil {
		return picked{}, err
	}
	if back >= len(rs) {
		return picked{}, usageError("%s holds %s; %d would be needed", file, plural(len(rs), "result"), back+1)
	}
	if back > 0 {
		rs = rs[len(rs)-back-1 : len(rs)-back]
	}
	return picked{name: filepath.Base(file), runs: rs}, nil
}

func plural(n int, what string) string { return some(int64(n), what) }

func some(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return report.Thousands(n) + " " + what + "s"
}

// resultFiles are the names of the files in the data directory. They sort by time.
func resultFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("results: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".ndjson") && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// newest is the newest result of the files that has a finished row and back others after it.
func newest(dir string, names []string, back int) (picked, error) {
	found := 0
	for _, name := range slices.Backward(names) {
		file := filepath.Join(dir, name)
		rs, err := bench.Load(file)
		if err == nil && !anyFinished(rs) {
			continue
		}
		if found == back {
			if err != nil { // a file that can't be read is not passed over in silence
				return picked{}, err
			}
			return picked{name: name, runs: rs[len(rs)-1:]}, nil
		}
		found++
	}
	return picked{}, withCode(exitFailed, "%s has %s with a finished row and %d would be needed; make one with: mrbench run",
		dir, plural(found, "result"), back+1)
}

// anyFinished says whether a file's last result has a measured row: an interrupted run may have none.
func anyFinished(rs []*bench.Result) bool {
	return len(rs) > 0 && slices.ContainsFunc(rs[len(rs)-1].Rows, func(r bench.Row) bool { return r.Seconds != nil })
}
