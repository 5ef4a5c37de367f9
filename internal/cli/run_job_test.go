package cli

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/mr"
)

// docs/jobs.md has each of these reasons.
func TestRowsOfAJobThatAreSkipped(t *testing.T) {
	group := func(id any) []bson.D { return []bson.D{{{Key: "$group", Value: bson.D{{Key: "_id", Value: id}}}}} }
	job := func(change func(*runJob)) *runJob {
		j := &runJob{name: "j.js", mr: mr.Job{EmitKey: "user"}, pipeline: group("$user"), disjoint: true}
		change(j)
		return j
	}
	none := func(*runJob) {}
	for _, c := range []struct {
		row, key string
		job      *runJob
		says     string
	}{
		{"mr", "", job(none), ""},
		{"mr-ranges-dbs", "user", job(none), ""},
		{"agg-ranges", "user", job(none), ""},
		{"agg-covered", "user", job(none), "whether an index alone can answer it"},
		{"agg", "user", job(func(j *runJob) { j.pipeline, j.unknown = nil, "there is no pipeline that does the same: x" }), "there is no pipeline that does the same"},
		{"mr-ranges", "", job(func(j *runJob) { j.mr.EmitKey = "" }), "no field to cut ranges by"},
		{"mr-ranges", "user", job(func(j *runJob) { j.mr.Limit = 5 }), "a job with a limit can't be run in ranges"},
		{"agg-ranges", "day", job(func(j *runJob) { j.disjoint, j.notDisjoint = false, "groups are not those" }), "groups are not those"},
		{"mr-sort", "user", job(func(j *runJob) { j.mr.Sort = bson.D{{Key: "day", Value: 1}} }), "a sort of its own"},
		{"mr-sort", "day", job(func(j *runJob) { j.mr.EmitKey = "" }), "no single field to sort by"},
		{"mr-ranges", "user", job(func(j *runJob) { j.mr.Sort = bson.D{{Key: "day", Value: 1}} }), ""},
		{"agg-covered", "dim0", uniqueCount("dim0"), ""},
	} {
		for _, v := range ladder {
			if v.id != c.row {
				continue
			}
			if got := c.job.skip(v, c.key); (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
				t.Errorf("%s by %q: %q, want %q", c.row, c.key, got, c.says)
			}
		}
	}
}

// Ranges of a field are parts of a pipeline's answer only when its groups are values of that field as it stands in the documents.
func TestGroupKey(t *testing.T) {
	stage := func(name string, v any) bson.D { return bson.D{{Key: name, Value: v}} }
	by := func(id any) bson.D { return stage("$group", bson.D{{Key: "_id", Value: id}}) }
	for _, c := range []struct {
		pipeline []bson.D
		key      string
		regroups bool
	}{
		{[]bson.D{by("$user")}, "user", false},
		{[]bson.D{stage("$match", bson.D{}), by("$user.id"), stage("$project", bson.D{})}, "user.id", false},
		{[]bson.D{stage("$unwind", "$items"), by("$user")}, "user", false},
		{[]bson.D{stage("$unwind", "$tags"), by("$tags")}, "", false},
		{[]bson.D{stage("$unwind", bson.D{{Key: "path", Value: "$items"}}), by("$items.sku")}, "", false},
		{[]bson.D{stage("$set", bson.D{}), by("$user")}, "", false},
		{[]bson.D{by("$$ROOT")}, "", false},
		{[]bson.D{by(bson.D{{Key: "u", Value: "$user"}})}, "", false},
		{[]bson.D{by("$user"), by("$_id.day")}, "user", true},
		{[]bson.D{by("$user"), stage("$limit", 5)}, "user", true},
		{[]bson.D{by("$user"), stage("$sort", bson.D{})}, "user", true},
		{nil, "", false},
	} {
		if got := groupKey(c.pipeline); got != c.key {
			t.Errorf("%v: groups by %q, want %q", c.pipeline, got, c.key)
		}
		if got := regroups(c.pipeline); got != c.regroups {
			t.Errorf("%v: regroups %v", c.pipeline, got)
		}
	}
}
