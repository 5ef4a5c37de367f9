package jobfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// maxFile is more than any job that a server takes.
const maxFile = 16 << 20

// Read reads a job from a file or folder below fsys: .js is shell text, everything else YAML or JSON, a folder
// holds map.js, reduce.js and optionally finalize.js, pipeline.json, job.yaml or job.json. shown is how errors call it; "" is name.
func Read(fsys fs.FS, name, shown string) (*Job, error) {
	if shown == "" {
		shown = name
	}
	r := reader{fsys: fsys, root: name, shown: shown}
	st, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", shown, reason(err))
	}
	var j *Job
	if st.IsDir() {
		r.dir = name
		j, err = r.folder()
	} else {
		r.dir = path.Dir(name)
		j, err = r.file(name)
	}
	if err != nil {
		return nil, err
	}
	j.File = shown
	if err := j.check(); err != nil {
		return nil, err
	}
	return j, nil
}

// Parse reads one file's text; name decides the form by its ending. Files that it refers to are looked for in no place.
func Parse(name string, text []byte) (*Job, error) {
	r := reader{root: name, shown: name, dir: path.Dir(name)}
	j, err := r.parse(name, text)
	if err != nil {
		return nil, err
	}
	j.File = name
	if err := j.check(); err != nil {
		return nil, err
	}
	return j, nil
}

// reader knows where the job's files are.
type reader struct {
	fsys             fs.FS
	root, shown, dir string
}

// show is how a person knows the file.
func (r *reader) show(name string) string {
	if name == r.root {
		return r.shown
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(name, r.dir), "/")
	if r.dir == r.root {
		return filepath.Join(r.shown, filepath.FromSlash(rel))
	}
	return filepath.Join(filepath.Dir(r.shown), filepath.FromSlash(rel))
}

func (r *reader) read(name string) ([]byte, error) {
	if r.fsys == nil {
		return nil, fmt.Errorf("job %s: it refers to another file, %s", r.shown, name)
	}
	st, err := fs.Stat(r.fsys, name)
	if err == nil && st.Size() > maxFile {
		return nil, fmt.Errorf("job %s: %d bytes are more than any server takes", r.show(name), st.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", r.show(name), reason(err))
	}
	b, err := fs.ReadFile(r.fsys, name)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", r.show(name), reason(err))
	}
	return b, nil
}

// reason is an error without the path, which is said already.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

func (r *reader) file(name string) (*Job, error) {
	text, err := r.read(name)
	if err != nil {
		return nil, err
	}
	return r.parse(name, text)
}

func (r *reader) parse(name string, text []byte) (*Job, error) {
	if path.Ext(name) == ".js" {
		return r.shell(name, string(text))
	}
	return r.yaml(name, text)
}

// folder reads map.js and its companions.
func (r *reader) folder() (*Job, error) {
	j := &Job{}
	has := func(name string) bool {
		_, err := fs.Stat(r.fsys, path.Join(r.root, name))
		return err == nil
	}
	for _, name := range []string{"job.yaml", "job.yml", "job.json"} {
		if has(name) {
			var err error
			if j, err = r.file(path.Join(r.root, name)); err != nil {
				return nil, err
			}
			break
		}
	}
	for _, f := range []struct {
		name string
		to   *Function
	}{{"map", &j.Map}, {"reduce", &j.Reduce}, {"finalize", &j.Finalize}} {
		name := path.Join(r.root, f.name+".js")
		if !has(f.name + ".js") {
			continue
		}
		if f.to.Text != "" {
			return nil, errorAt(Position{File: r.show(name)}, "%s is given twice, here and in the job file: keep one", f.name)
		}
		fn, err := r.functionFile(name, f.name)
		if err != nil {
			return nil, err
		}
		*f.to = fn
	}
	if has("pipeline.json") {
		if j.Pipeline != nil {
			return nil, errorAt(Position{File: r.show(path.Join(r.root, "pipeline.json"))}, "the pipeline is given twice, here and in the job file: keep one")
		}
		if err := r.pipelineFile(j, path.Join(r.root, "pipeline.json")); err != nil {
			return nil, err
		}
	}
	if j.Map.Text == "" {
		return nil, errorAt(Position{File: r.shown}, "the folder has no map.js: put the map function there")
	}
	return j, nil
}

// functionFile reads a file with one function: alone, assigned to a variable, or declared.
func (r *reader) functionFile(name, role string) (Function, error) {
	text, err := r.read(name)
	if err != nil {
		return Function{}, err
	}
	return functionIn(r.show(name), string(text), role)
}
