package cli

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readpref"

	"mrbench/internal/report"
)

// explainLag says how far the members that a pipeline reads from are behind the primary, when its answer is another one.
func (m *measurement) explainLag(ctx context.Context, row int) {
	if m.concerns.read == nil || !m.variants[row].aggregate && !m.variants[m.first].aggregate {
		return
	}
	id := m.variants[row].id
	text := fmt.Sprintf("%s reads by preference %s: a member that is behind the primary answers from older documents", id, m.concerns.read.Mode())
	if here, there, ok := m.countBoth(ctx); ok && here != there {
		text += fmt.Sprintf("; it counted %s documents where the primary counted %s", report.Thousands(there), report.Thousands(here))
	}
	if lag, ok := m.lag(ctx); ok && lag > 0 {
		text += fmt.Sprintf("; it was %v behind", lag.Round(time.Second))
	}
	m.warn("%s", text)
}

// countBoth counts the source at the primary and where pipelines read.
func (m *measurement) countBoth(ctx context.Context) (primary, there int64, ok bool) {
	count := func(rp *readpref.ReadPref) (int64, bool) {
		raw, err := m.coll.Database().RunCommand(ctx, bson.D{{Key: "count", Value: m.coll.Name()}}, options.RunCmd().SetReadPreference(rp)).Raw()
		if err != nil {
			return 0, false
		}
		return raw.Lookup("n").AsInt64OK()
	}
	primary, ok = count(readpref.Primary())
	if !ok {
		return 0, 0, false
	}
	there, ok = count(m.concerns.read)
	return primary, there, ok
}

// lag is how much later the primary's last write was than that of the member that answers. A router does not tell.
func (m *measurement) lag(ctx context.Context) (time.Duration, bool) {
	written := func(rp *readpref.ReadPref) (time.Time, bool) {
		raw, err := m.t.Client.Database("admin").RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}, options.RunCmd().SetReadPreference(rp)).Raw()
		if err != nil {
			return time.Time{}, false
		}
		return raw.Lookup("lastWrite", "lastWriteDate").TimeOK()
	}
	there, ok := written(m.concerns.read)
	if !ok {
		return 0, false
	}
	here, ok := written(readpref.Primary())
	return here.Sub(there), ok
}
