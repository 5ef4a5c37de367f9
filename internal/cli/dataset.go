package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"mrbench/internal/bench"
	"mrbench/internal/target"
	"mrbench/seed"
)

// kindData is what a collection was filled with: a line of the record beside that of the collection itself, which is
// there only when mrbench created it.
const kindData = "data"

// filesName is the generator of documents that came from files, as seed.Report has it.
const filesName = "files"

// recordData remembers what an empty collection was filled with, so that results can say on what they were measured.
func (a *app) recordData(ctx context.Context, t *target.Target, o seedOptions, rep *seed.Report) error {
	if rep.Before > 0 || rep.Rejects > 0 || rep.Duplicates > 0 || rep.Counted != rep.Documents {
		return nil // the collection holds something else than what the options say
	}
	spec := &bench.DataSpec{Generator: rep.Generator, Seed: o.seed, Documents: rep.Documents}
	switch rep.Generator {
	case uniquesName:
		spec.Field = a.common.key
		if spec.Keys = o.keys; spec.Keys == 0 {
			spec.Keys = max(1, o.docs/10)
		}
	case filesName:
		spec.Seed = 0
	}
	var err error
	if spec.Digest, err = a.originDigest(o); err != nil {
		return err
	}
	ns := a.common.ns
	uuid, exists, err := collectionUUID(ctx, t.Client.Database(ns.DB), ns.Coll)
	if err != nil || !exists || uuid == "" {
		return err
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	return createdIn(dir).add(creation{Kind: kindData, Name: ns.String(), UUID: uuid, Server: t.Identity, Time: a.env.Now(), Spec: spec})
}

// originDigest is of a template's text, or of the names and sizes of files; "" for other generators.
func (a *app) originDigest(o seedOptions) (string, error) {
	h := sha256.New()
	files, err := a.sourceConfig(o)
	switch {
	case err != nil:
		return "", err
	case o.template != "":
		text, err := os.ReadFile(a.env.path(o.template))
		if err != nil {
			return "", fmt.Errorf("--template: %w", err)
		}
		h.Write(text)
	case files != nil:
		list, err := files.Files()
		if err != nil {
			return "", err
		}
		for _, f := range list {
			b, err := json.Marshal([]any{filepath.Base(f.Path), f.Size})
			if err != nil {
				return "", err
			}
			h.Write(b)
		}
		fmt.Fprint(h, o.selected, o.columns, o.folders)
	default:
		return "", nil
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16]), nil
}

// dataset finds out what the collection is: its UUID, and what mrbench filled it with, if it still is the same collection
// with as many documents.
func (m *measurement) dataset(ctx context.Context) error {
	d := &m.result.Dataset
	ns := m.app.common.ns
	var err error
	if d.UUID, _, err = collectionUUID(ctx, m.coll.Database(), ns.Coll); err != nil || d.UUID == "" {
		return err
	}
	known, err := m.out.record.list(m.t.Identity)
	if err != nil {
		return err
	}
	for _, k := range known {
		if k.Kind == kindData && k.Name == ns.String() && k.UUID == d.UUID && k.Spec != nil && k.Spec.Documents == d.Documents {
			d.Spec = k.Spec
		}
	}
	return nil
}
