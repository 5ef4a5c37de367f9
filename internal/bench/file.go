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
	lineLoad    = "telemetry"
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
	// Telemetry says how load is observed; the observations follow.
	Telemetry *Telemetry `json:"telemetry,omitempty"`
	// Plan holds the rows as they will be measured, with their labels, threads and ranges only.
	Plan []Row `json:"plan"`
}

type sampleLine struct {
	Type string `json:"type"`
	Sample
}

type loadLine struct {
	Type string `json:"type"`
	Series
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
	Into       *Into       `json:"into,omitempty"`
	Notes      []Note      `json:"notes,omitempty"`
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
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("result file: %w", err)
	}
	if err := completeLine(f); err != nil {
		return nil, errors.Join(fmt.Errorf("result file: %w", err), f.Close())
	}
	return &File{f: f, Path: path}, nil
}

// completeLine ends a line that a crash cut off, so that it does not swallow the first line of this run.
func completeLine(f *os.File) error {
	st, err := f.Stat()
	if err != nil || st.Size() == 0 || !st.Mode().IsRegular() {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, st.Size()-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	_, err = f.Write([]byte{'\n'})
	return err
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
	return f.line(contextLine{lineContext, SchemaVersion, r.Dataset, r.Server, r.Split, r.Context, r.Telemetry, r.Rows})
}

// Sample writes one finished run of a row.
func (f *File) Sample(s Sample) error {
	s.Parts = nil
	return f.line(sampleLine{lineSample, s})
}

// Series writes what was observed during one run of a row.
func (f *File) Series(s Series) error { return f.line(loadLine{lineLoad, s}) }

// Row writes a finished row.
func (f *File) Row(r Row) error { return f.line(rowLine{lineRow, r}) }

// End writes how the run ended.
func (f *File) End(r *Result, finished time.Time) error {
	return f.line(endLine{lineEnd, finished, r.ExitCode, r.Difference, r.Into, r.Notes, r.Warnings})
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
// ignored, and so is the last line of a run when it was cut off. Rows that have samples but no line of their own (the run
// was killed) are made up from them.
func Read(r io.Reader) ([]*Result, error) {
	var (
		in   = bufio.NewReader(r)
		read reader
	)
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
		if len(bytes.TrimSpace(line)) > 0 {
			if err := read.line(n, line); err != nil {
				return nil, err
			}
		}
		if cut {
			break
		}
	}
	if read.broken != nil && len(read.all) == 0 {
		return nil, read.broken
	}
	if len(read.all) == 0 {
		return nil, errors.New("it holds no result")
	}
	read.finish()
	return read.all, nil
}

// reader puts runs together from lines.
type reader struct {
	all    []*Result
	rows   map[string]bool // rows of the last run that have a line of their own
	broken error           // the line before was no JSON, which is a crash if the run ends there
}

func (r *reader) line(n int, line []byte) error {
	var head struct {
		Type          string `json:"type"`
		SchemaVersion int    `json:"schema_version"`
	}
	err := json.Unmarshal(line, &head)
	if r.broken != nil && (err != nil || head.Type != lineContext || len(r.all) == 0) {
		return r.broken
	}
	r.broken = nil
	switch {
	case err != nil:
		r.broken = fmt.Errorf("line %d: %w", n, err)
		return nil
	case head.Type == lineContext:
		err = r.begin(head.SchemaVersion, line)
	case len(r.all) == 0:
		err = fmt.Errorf("not a result of mrbench: the first line must have type %q", lineContext)
	default:
		err = r.add(r.all[len(r.all)-1], head.Type, line)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", n, err)
	}
	return nil
}

func (r *reader) begin(schema int, line []byte) error {
	if schema > SchemaVersion {
		return fmt.Errorf("schema_version %d was written by a newer mrbench; this one reads up to %d", schema, SchemaVersion)
	}
	r.finish()
	r.rows = map[string]bool{}
	var c contextLine
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	r.all = append(r.all, &Result{SchemaVersion: c.SchemaVersion, Dataset: c.Dataset, Server: c.Server, Split: c.Split, Context: c.Context, Telemetry: c.Telemetry, Rows: c.Plan, ExitCode: -1})
	return nil
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

func (r *reader) add(to *Result, kind string, line []byte) error {
	switch kind {
	case lineSample:
		var s sampleLine
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		to.Samples = append(to.Samples, s.Sample)
	case lineLoad:
		var l loadLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		if to.Telemetry == nil {
			to.Telemetry = &Telemetry{}
		}
		to.Telemetry.Runs = append(to.Telemetry.Runs, l.Series)
	case lineRow:
		var row rowLine
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		r.rows[row.ID] = true
		if i := slices.IndexFunc(to.Rows, func(p Row) bool { return p.ID == row.ID }); i >= 0 {
			to.Rows[i] = row.Row
		} else {
			to.Rows = append(to.Rows, row.Row)
		}
	case lineEnd:
		var e endLine
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		to.ExitCode, to.Difference, to.Into, to.Notes, to.Warnings = e.ExitCode, e.Difference, e.Into, e.Notes, e.Warnings
	}
	return nil
}

// finish makes up the rows of the last run that were not written because it was killed.
func (r *reader) finish() {
	if len(r.all) == 0 {
		return
	}
	last := r.all[len(r.all)-1]
	made := false
	for i := range last.Rows {
		row := &last.Rows[i]
		o := Outcome{}
		for _, s := range last.Samples {
			if s.Row == row.ID && !s.Warmup {
				o.Samples = append(o.Samples, s)
			}
		}
		if len(o.Samples) > 0 && !r.rows[row.ID] {
			row.Fill(&o)
			made = true
		}
	}
	if made {
		last.Annotate()
	}
}
