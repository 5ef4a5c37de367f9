package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is one file to read. Folder is the top-level folder that it lies in,
// below the path that was given; "." for one that lies in none.
type File struct {
	Path   string
	Folder string
	Size   int64 // bytes on disk; -1 for standard input
}

// Folder is a top-level folder with its files.
type Folder struct {
	Name  string
	Files []File
	Bytes int64
}

// Files lists what the configuration's paths stand for, in the order in which it is
// read: paths as given, a pattern's matches and a folder's files sorted.
func (c Config) Files() ([]File, error) {
	folders, err := c.Folders()
	if err != nil {
		return nil, err
	}
	var files []File
	for _, f := range folders {
		files = append(files, f.Files...)
	}
	return files, nil
}

// Folders lists the top-level folders [From, To) of the paths, sorted by name
// within each path. Files that lie directly in a path are a folder ".".
func (c Config) Folders() ([]Folder, error) {
	if _, err := c.withDefaults(); err != nil {
		return nil, err
	}
	var folders []Folder
	add := func(f File) {
		if n := len(folders); n == 0 || folders[n-1].Name != f.Folder {
			folders = append(folders, Folder{Name: f.Folder})
		}
		last := &folders[len(folders)-1]
		last.Files = append(last.Files, f)
		last.Bytes += max(f.Size, 0)
	}
	for _, path := range c.Paths {
		if path == "-" {
			if c.Stdin == nil {
				return nil, errors.New("source: there is no standard input to read")
			}
			add(File{Path: "-", Folder: ".", Size: -1})
			continue
		}
		matches, err := expand(path)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			files, err := walk(m)
			if err != nil {
				return nil, err
			}
			for _, f := range files {
				add(f)
			}
		}
	}
	if c.From == 0 && c.To == 0 {
		return folders, nil
	}
	to := c.To
	if to == 0 {
		to = len(folders)
	}
	if c.From >= len(folders) || to > len(folders) {
		return nil, fmt.Errorf("source: folders %d:%d: there are %d", c.From, to, len(folders))
	}
	return folders[c.From:to], nil
}

// expand finds a pattern's matches. A name that exists is not a pattern.
func expand(path string) ([]string, error) {
	if _, err := os.Stat(path); err == nil {
		return []string{path}, nil
	} else if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(path, "*?[") {
		return nil, pathError(path, err)
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return nil, fmt.Errorf("source: pattern %q: %w", path, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("source: pattern %q matches no file", path)
	}
	slices.Sort(matches)
	return matches, nil
}

// walk lists a folder's files; a file is itself. Links are followed for the
// path itself only.
func walk(root string) ([]File, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, pathError(root, err)
	}
	if !info.IsDir() {
		return []File{{Path: root, Folder: ".", Size: info.Size()}}, nil
	}
	var direct, files []File
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != root && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if folder, _, nested := strings.Cut(filepath.ToSlash(rel), "/"); nested {
			files = append(files, File{Path: path, Folder: folder, Size: info.Size()})
		} else {
			direct = append(direct, File{Path: path, Folder: ".", Size: info.Size()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("source: folder %s: %w", root, err)
	}
	// WalkDir's order is by name within each folder; files of the root come first here,
	// so that they are one folder.
	files = append(direct, files...)
	if len(files) == 0 {
		return nil, fmt.Errorf("source: folder %s holds no files", root)
	}
	return files, nil
}

// pathError says what is wrong with a path, without the name of the system's call.
func pathError(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("source: %s: %w", path, err)
}
