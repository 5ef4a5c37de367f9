package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// The lines of a result file, told apart by their field "type".
const (
	lineContext = "context"
	lineSample  = "sample"
	lineRow     = "row"
	lineEnd     = "end"
)

type contextLine struct {
	Type          string  `json:"type"`
	SchemaVersion int     `json:"schema_version"`
	Dataset       Dataset `json:"dataset"`
	Server        Server  `json:"server"`
	Split         *Split  `json:"split,omitempty"`
	Context       Context `json:"context"`
	// Plan holds the rows as they will be measured, with their labels, threads and ranges only.
	Plan []Row `json:"plan"`
}

type sampleLine struct {
	Type string `json:"type"`
	Sample
}

type rowLine struct {
	Type string `json:"type"`
	Row
}

type endLine struct {
	Type       string      `json:"type"`
	Finished   time.Time   `json:"finished"`
	ExitCode   int         `json:"exit_code"`
	Difference *Difference `json:"difference,omitempty"`
	Warnings   []string    `json:"warnings,omitempty"`
}

// File is a result file that is appended to while a run goes on. Each line goes to the operating system as it is
// written.
type File struct {
	f    *os.File
	Path string
	used bool
}

// Create opens path for appending; its directory must exist. An empty file that nothing was written to is removed by
// Close.
func Create(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("result file: %w", err)
	}
	return &File{f: f, Path: path}, nil
}

func (f *File) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("result file %s: %w", f.Path, err)
	}
	f.used = true
	if _, err := f.f.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("result file: %w", err)
	}
	return nil
}

// Begin writes what is measured and where. r.Rows are the rows as planned.
func (f *File) Begin(r *Result) error {
	return f.line(contextLine{lineContext, SchemaVersion, r.Dataset, r.Server, r.Split, r.Context, r.Rows})
}

// Sample writes one finished run of a row.
func (f *File) Sample(s Sample) error {
	s.Parts = nil
	return f.line(sampleLine{lineSample, s})
}

// Row writes a finished row.
func (f *File) Row(r Row) error { return f.line(rowLine{lineRow, r}) }

// End writes how the run ended.
func (f *File) End(r *Result, finished time.Time) error {
	return f.line(endLine{lineEnd, finished, r.ExitCode, r.Difference, r.Warnings})
}

// Close closes the file and removes it when nothing was ever written to it.
func (f *File) Close() error {
	err := f.f.Close()
	if !f.used {
		if st, serr := os.Stat(f.Path); serr == nil && st.Size() == 0 {
			err = errors.Join(err, os.Remove(f.Path))
		}
	}
	return err
}

// Load reads all runs that a file holds, oldest first.
func Load(path string) ([]*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("result file: %w", err)
	}
	defer f.Close()
	rs, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("result file %s: %w", path, err)
	}
	return rs, nil
}

// Read reads runs from lines as File writes them, or one result as -o json prints it. Unknown fields and lines are
// ignored, and so is a last line that was cut off. Rows that have samples but no line of their own (the run was killed)
// are made up from them.
func Read(r io.Reader) ([]*Result, error) {
	in := bufio.NewReader(r)
	var (
		all     []*Result
		samples map[string]*Outcome
	)
	finish := func() {
		if len(all) > 0 {
			revive(all[len(all)-1], samples)
		}
	}
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		cut := err == io.EOF
		if n == 1 {
			if one, rest := whole(line, in); one != nil {
				return []*Result{one}, nil
			} else if rest != nil {
				return nil, rest
			}
		}
		if len(line) > 0 {
			var head struct {
				Type          string `json:"type"`
				SchemaVersion int    `json:"schema_version"`
			}
			if jerr := json.Unmarshal(line, &head); jerr != nil {
				if cut && n > 1 {
					break
				}
				return nil, fmt.Errorf("line %d: %w", n, jerr)
			}
			if head.Type == lineContext {
				finish()
				samples = map[string]*Outcome{}
				if head.SchemaVersion > SchemaVersion {
					return nil, fmt.Errorf("line %d: schema_version %d was written by a newer mrbench; this one reads up to %d", n, head.SchemaVersion, SchemaVersion)
				}
				var c contextLine
				if err := json.Unmarshal(line, &c); err != nil {
					return nil, fmt.Errorf("line %d: %w", n, err)
				}
				all = append(all, &Result{SchemaVersion: c.SchemaVersion, Dataset: c.Dataset, Server: c.Server, Split: c.Split, Context: c.Context, Rows: c.Plan, ExitCode: -1})
			} else if len(all) == 0 {
				return nil, fmt.Errorf("line %d: not a result of mrbench: the first line must have type %q", n, lineContext)
			} else if err := add(all[len(all)-1], samples, head.Type, line); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if cut {
			break
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it holds no result")
	}
	finish()
	return all, nil
}

// whole reads a result that is one JSON object over several lines, as -o json prints it.
func whole(first []byte, rest io.Reader) (*Result, error) {
	trimmed := []byte{}
	for _, c := range first {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			trimmed = append(trimmed, c)
		}
	}
	if string(trimmed) != "{" {
		return nil, nil
	}
	r := &Result{}
	if err := json.NewDecoder(io.MultiReader(bytes.NewReader(first), rest)).Decode(r); err != nil {
		return nil, err
	}
	if r.SchemaVersion == 0 || r.SchemaVersion > SchemaVersion {
		return nil, fmt.Errorf("schema_version %d: this mrbench reads 1 to %d", r.SchemaVersion, SchemaVersion)
	}
	return r, nil
}

func add(r *Result, samples map[string]*Outcome, kind string, line []byte) error {
	switch kind {
	case lineSample:
		var s sampleLine
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		if !s.Warmup {
			if samples[s.Row] == nil {
				samples[s.Row] = &Outcome{}
			}
			samples[s.Row].Samples = append(samples[s.Row].Samples, s.Sample)
		}
	case lineRow:
		var row rowLine
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		delete(samples, row.ID)
		if i := slices.IndexFunc(r.Rows, func(p Row) bool { return p.ID == row.ID }); i >= 0 {
			r.Rows[i] = row.Row
		} else {
			r.Rows = append(r.Rows, row.Row)
		}
	case lineEnd:
		var e endLine
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		r.ExitCode, r.Difference, r.Warnings = e.ExitCode, e.Difference, e.Warnings
	}
	return nil
}

func revive(r *Result, samples map[string]*Outcome) {
	if len(samples) == 0 {
		return
	}
	for i := range r.Rows {
		if o := samples[r.Rows[i].ID]; o != nil {
			r.Rows[i].Fill(o)
		}
	}
	Relate(r.Rows)
}
