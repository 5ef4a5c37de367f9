package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/aggregate"
	"mrbench/aggregate/translate"
	"mrbench/internal/bench"
	"mrbench/internal/parity"
	"mrbench/mr"
)

// runJob is what run measures: the count of unique values, or a job of a person's own.
type runJob struct {
	name     string // "" is the count of unique values
	mr       mr.Job
	pipeline []bson.D // that computes the same; nil: none is known
	origin   string   // where the pipeline comes from
	unknown  string   // why there is no pipeline
	// disjoint says that ranges of the key have no group in common; if not, why.
	disjoint    bool
	notDisjoint string
	unordered   []string // fields of the value whose elements are in no order

	same map[bench.Answer]bool // answers that were found to agree with the first one
	// What was overlooked when answers were compared: values, and how far apart they were.
	rounded, reordered int64
	largest            float64
}

func uniqueCount(key string) *runJob {
	return &runJob{mr: mr.UniqueCount(key), pipeline: aggregate.UniqueCount(key), disjoint: true}
}

// runJob is the job in the file that --job names. The namespace is the job's unless a flag or setting says otherwise, and so is the key.
func (a *app) runJob(cmd *cobra.Command, path string) (*runJob, error) {
	file, err := a.readJob(path)
	if err != nil {
		return nil, usageError("--job: %w", err)
	}
	if a.common.ns, err = a.jobNamespace(cmd, file); err != nil {
		return nil, usageError("%w", err)
	}
	j := &runJob{name: path, mr: mr.Job{
		Map: file.Map.Text, Reduce: file.Reduce.Text, Finalize: file.Finalize.Text,
		Scope: file.Scope, Query: file.Query, Sort: file.Sort, Limit: file.Limit,
	}}
	j.mr.EmitKey = file.EmitKey()
	tr, terr := translate.Translate(file, translate.Options{})
	if terr == nil {
		j.unordered = tr.Unordered
		if j.mr.EmitKey == "" {
			j.mr.EmitKey = groupKey(tr.Pipeline())
		}
	}
	switch {
	case file.Pipeline != nil:
		j.pipeline, j.origin = file.Pipeline, "the pipeline in the file"
	case terr == nil:
		j.pipeline, j.origin = tr.Pipeline(), "translated from the job"
	default:
		j.unknown = fmt.Sprintf("there is no pipeline that does the same: %v", terr)
	}
	if !cmd.Flags().Changed("key") {
		a.common.key = file.SplitKey
		if a.common.key == "" {
			a.common.key = j.mr.EmitKey
		}
	}
	j.disjoint = groupKey(j.pipeline) == a.common.key && !regroups(j.pipeline)
	if !j.disjoint {
		j.notDisjoint = "the pipeline's groups are not those of the key that ranges are cut by: parts would have to be put together"
	}
	return j, nil
}

// valueOf is a field's value in a document, nil when there is no such field.
func valueOf(d bson.D, name string) any {
	for _, e := range d {
		if e.Key == name {
			return e.Value
		}
	}
	return nil
}

// groupKey is the field that a pipeline groups by when no stage before makes or takes apart that field; "" otherwise.
func groupKey(pipeline []bson.D) string {
	var unwound []string
	for _, stage := range pipeline {
		if len(stage) != 1 {
			return ""
		}
		switch op := stage[0]; op.Key {
		case "$match", "$sort":
		case "$unwind":
			path, _ := op.Value.(string)
			if d, ok := op.Value.(bson.D); ok {
				path, _ = valueOf(d, "path").(string)
			}
			unwound = append(unwound, strings.TrimPrefix(path, "$"))
		case "$group":
			spec, _ := op.Value.(bson.D)
			id, _ := valueOf(spec, "_id").(string)
			field, ok := strings.CutPrefix(id, "$")
			if !ok || strings.HasPrefix(field, "$") {
				return ""
			}
			if slices.ContainsFunc(unwound, func(p string) bool {
				return p == "" || p == field || strings.HasPrefix(field, p+".") || strings.HasPrefix(p, field+".")
			}) {
				return ""
			}
			return field
		default:
			return ""
		}
	}
	return ""
}

// regroups reports whether what a pipeline does after its first $group depends on more than one group.
func regroups(pipeline []bson.D) bool {
	grouped := false
	for _, stage := range pipeline {
		switch name := stage[0].Key; {
		case name == "$group" && !grouped:
			grouped = true
		case !grouped, name == "$project", name == "$set", name == "$addFields", name == "$unset", name == "$match", name == "$replaceRoot", name == "$replaceWith":
		default:
			return true
		}
	}
	return false
}

// rows are those of the ladder that a job is measured by when no flag names some. jsMode makes strings of numbers and booleans;
// what they were is known of a field that ranges are cut by, not of other keys.
func (j *runJob) rows(key string) (ids []string) {
	for _, v := range ladder {
		if !v.covered && (!v.js || j.emits(key)) {
			ids = append(ids, v.id)
		}
	}
	return ids
}

// emits reports whether the job's keys are the values of the field.
func (j *runJob) emits(key string) bool { return key != "" && j.mr.EmitKey == key }

// skip says why a row can't be run for the job; "" it can.
func (j *runJob) skip(v variant, key string) string {
	switch {
	case j.name == "":
		return ""
	case v.covered:
		return "of a job's own pipeline it is not known whether an index alone can answer it"
	case v.aggregate && j.pipeline == nil:
		return j.unknown
	case v.ranges && key == "":
		return "no field to cut ranges by: the map function emits no single field; name one with --key, or splitKey in the job"
	case v.ranges && j.mr.Limit > 0:
		return "a job with a limit can't be run in ranges: the limit would hold for each"
	case v.aggregate && v.ranges && !j.disjoint:
		return j.notDisjoint
	case v.sort && !v.ranges && len(j.mr.Sort) > 0:
		return "the job has a sort of its own"
	case v.sort && !v.ranges && j.mr.EmitKey == "":
		return "the map function emits no single field to sort by"
	}
	return ""
}

// mapReduce is the job as a row runs it.
func (j *runJob) mapReduce(v variant) mr.Job {
	job := j.mr
	if v.sort && len(job.Sort) == 0 && job.EmitKey != "" {
		job.Sort = bson.D{{Key: job.EmitKey, Value: 1}}
	}
	return job
}

// nearly is how far sums may be apart that were added up in another order, as a part of the larger.
const nearly = 1e-9

// agreesNearly looks whether an answer is the first one but for the last digits of sums and the order of elements that have
// none. It takes the first answer then, and remembers why.
func (m *measurement) agreesNearly(ctx context.Context, row int, s *bench.Sample, stored *mr.Report) error {
	if m.job.name == "" || m.first < 0 || *s.Answer == *m.answer {
		return nil
	}
	if m.job.same[*s.Answer] {
		s.Answer = m.answer
	}
	if row == m.first || *s.Answer == *m.answer {
		return nil
	}
	one, other := m.answers(ctx, row, stored)
	near := parity.Near{Unordered: m.job.unordered, Relative: nearly}
	g, err := near.Compare(one, other, 1)
	if err != nil || g.Different > 0 {
		return err
	}
	if m.job.same == nil {
		m.job.same = map[bench.Answer]bool{}
	}
	m.job.same[*s.Answer] = true
	s.Answer = m.answer
	m.job.rounded = max(m.job.rounded, g.Rounded)
	m.job.reordered = max(m.job.reordered, g.Reordered)
	m.job.largest = max(m.job.largest, g.Largest)
	return nil
}

// agreement says what was overlooked when answers were compared.
func (m *measurement) agreement() {
	j := m.job
	if j.rounded > 0 {
		m.warn("answers agree but for the last digits of up to %d values (by %.0e of the value at most): sums that were added up in another order", j.rounded, j.largest)
	}
	if j.reordered > 0 {
		m.warn("answers agree but for the order within up to %d values, which nothing in the job defines", j.reordered)
	}
}

// describe says what is run, before it is.
func (j *runJob) describe(a *app) {
	if j.name == "" {
		return
	}
	what := "no pipeline"
	if j.pipeline != nil {
		what = "beside " + j.origin
	}
	a.tell("job %s on %s, %s; where its result goes is left out: each row writes to a database of its own", j.name, a.common.ns, what)
}

// title names the job in results: its file and the beginning of a digest of what it does.
func (j *runJob) title() string {
	if j.name == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %v %v %v %d %v", j.mr.Map, j.mr.Reduce, j.mr.Finalize, j.mr.Scope, j.mr.Query, j.mr.Sort, j.mr.Limit, j.pipeline)
	return fmt.Sprintf("%s (%x)", filepath.Base(j.name), h.Sum(nil)[:4])
}

// jobOf is what the flags ask to be run.
func (a *app) jobOf(cmd *cobra.Command, o *runOptions) (*runJob, error) {
	if o.job == "" {
		return uniqueCount(a.common.key), nil
	}
	if o.docs > 0 {
		return nil, usageError("--docs makes documents for the count of unique values; a job reads documents of its own: load them with mrbench seed --from or --generator")
	}
	j, err := a.runJob(cmd, o.job)
	if err != nil {
		return nil, err
	}
	named := slices.ContainsFunc([]string{"jsmode", "sort", "no-sort", "layout", "ranges", "rows", "ladder"}, cmd.Flags().Changed)
	if !named {
		o.rows = j.rows(a.common.key)
		if o.take != (takeRange{}) {
			o.rows = slices.DeleteFunc(o.rows, func(id string) bool { return !strings.Contains(id, "-ranges") })
		}
	}
	return j, nil
}
