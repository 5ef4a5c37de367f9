package polite

import (
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/bson"
)

// measure is what one look said of one kind.
type measure struct {
	known bool
	value float64 // in the limit's unit; of tickets those that are free
	whole float64 // of which value is a part, where that is of interest: tickets in all
	of    string  // which member or kind of ticket it is about; "" the server
}

// reading is what one look at a server gave.
type reading [kinds]measure

// raise keeps the worse of two.
func (r *reading) raise(k kind, m measure) {
	old := r[k]
	worse := m.value > old.value
	if k == tickets {
		worse = m.value < old.value
	}
	if !old.known || worse {
		m.known = true
		r[k] = m
	}
}

// readings are what a look gave of each server: the one that is asked or the router by the name "", and shards.
type readings map[string]*reading

func (rs readings) of(name string) *reading {
	if rs[name] == nil {
		rs[name] = &reading{}
	}
	return rs[name]
}

// add keeps the worse of what two looks say of a server.
func (rs readings) add(more readings) {
	for name, r := range more {
		for k, m := range r {
			if m.known {
				rs.of(name).raise(kind(k), m)
			}
		}
	}
}

// readStatus takes serverStatus of any version; what it does not say stays unknown.
func (r *reading) readStatus(raw bson.Raw) {
	if n, ok := number(raw, "globalLock", "currentQueue", "total"); ok {
		r.raise(queue, measure{value: n})
	} else {
		readers, ok1 := number(raw, "globalLock", "currentQueue", "readers")
		writers, ok2 := number(raw, "globalLock", "currentQueue", "writers")
		if ok1 || ok2 {
			r.raise(queue, measure{value: readers + writers})
		}
	}
	if most, ok := number(raw, "wiredTiger", "cache", "maximum bytes configured"); ok && most > 0 {
		if n, ok := number(raw, "wiredTiger", "cache", "tracked dirty bytes in the cache"); ok {
			r.raise(cacheDirty, measure{value: n / most})
		}
		if n, ok := number(raw, "wiredTiger", "cache", "bytes currently in the cache"); ok {
			r.raise(cacheUsed, measure{value: n / most})
		}
	}
	// They moved in 8.0.
	for _, at := range [][2]string{{"wiredTiger", "concurrentTransactions"}, {"queues", "execution"}} {
		for _, of := range []string{"read", "write"} {
			if n, ok := number(raw, at[0], at[1], of, "available"); ok {
				total, _ := number(raw, at[0], at[1], of, "totalTickets")
				r.raise(tickets, measure{value: n, whole: total, of: of})
			}
		}
	}
	current, ok := number(raw, "connections", "current")
	if free, more := number(raw, "connections", "available"); ok && more && current+free > 0 {
		r.raise(connections, measure{value: current / (current + free)})
	}
}

// States of a replica set's members.
const (
	statePrimary    = 1
	stateSecondary  = 2
	stateRecovering = 3
)

// readMembers takes replSetGetStatus. Members that are down, or that take no part in replication, are not behind; delays are what
// members are meant to be behind, in seconds by _id.
func (r *reading) readMembers(raw bson.Raw, delays map[int64]float64) {
	list, _ := raw.Lookup("members").ArrayOK()
	values, err := list.Values()
	if err != nil {
		return
	}
	newest := int64(math.MinInt64)
	primary := false
	for _, v := range values {
		m, ok := v.DocumentOK()
		if !ok {
			continue
		}
		at, ok := m.Lookup("optimeDate").DateTimeOK()
		state, _ := number(m, "state")
		switch {
		case !ok:
		case state == statePrimary && !primary:
			newest, primary = at, true
		case !primary:
			newest = max(newest, at)
		}
	}
	for _, v := range values {
		m, ok := v.DocumentOK()
		if !ok {
			continue
		}
		at, ok := m.Lookup("optimeDate").DateTimeOK()
		state, _ := number(m, "state")
		if health, has := number(m, "health"); !ok || has && health != 1 || state != stateSecondary && state != stateRecovering {
			continue
		}
		id, _ := number(m, "_id")
		name, _ := m.Lookup("name").StringValueOK()
		behind := float64(newest-at)/1000 - delays[int64(id)]
		r.raise(lag, measure{value: max(behind, 0), of: name})
	}
	if primary && !r[lag].known {
		r.raise(lag, measure{}) // nobody who could be behind
	}
}

// readDelays takes replSetGetConfig.
func readDelays(raw bson.Raw) map[int64]float64 {
	delays := map[int64]float64{}
	list, _ := raw.Lookup("config", "members").ArrayOK()
	values, err := list.Values()
	if err != nil {
		return delays
	}
	for _, v := range values {
		m, ok := v.DocumentOK()
		if !ok {
			continue
		}
		id, _ := number(m, "_id")
		for _, field := range []string{"slaveDelay", "secondaryDelaySecs"} { // the latter since 5.0
			if n, ok := number(m, field); ok && n > 0 {
				delays[int64(id)] = n
			}
		}
	}
	return delays
}

// readLastWrite takes hello, for those who may not ask for the members: how far the majority is behind.
func (r *reading) readLastWrite(raw bson.Raw) {
	last, ok1 := raw.Lookup("lastWrite", "lastWriteDate").DateTimeOK()
	majority, ok2 := raw.Lookup("lastWrite", "majorityWriteDate").DateTimeOK()
	if ok1 && ok2 {
		r.raise(lag, measure{value: max(float64(last-majority)/1000, 0), of: "the majority"})
	}
}

// number reads a number of any type at a path.
func number(raw bson.Raw, path ...string) (float64, bool) {
	v, err := raw.LookupErr(path...)
	if err != nil {
		return 0, false
	}
	if f, ok := v.DoubleOK(); ok {
		return f, !math.IsNaN(f)
	}
	n, ok := v.AsInt64OK()
	return float64(n), ok
}

// held are the kinds whose limit was passed and not kept since with some room.
type held [kinds]bool

// passed says why nothing is to be sent; nothing: something may. It notes in h which limits are passed.
func (l Limits) passed(r reading, h *held) (why []reason) {
	for i, v := range l.levels {
		k, m := kind(i), r[i]
		if !v.on || !m.known {
			h[k] = false
			continue
		}
		limit := k.limit(v, m)
		over := k.worse(m, limit)
		if h[k] = over || h[k] && k.worse(m, limit*kindInfos[k].room); h[k] {
			why = append(why, reason{key: kindInfos[k].name, text: k.text(m, v, over)})
		}
	}
	return why
}

// worse compares what was measured with a limit. All tickets free is never too few.
func (k kind) worse(m measure, limit float64) bool {
	if k != tickets {
		return m.value > limit
	}
	return m.value < limit && (m.whole == 0 || m.value < m.whole)
}

// limit is a level in the unit of what was measured. Servers since 7.0 change the number of tickets themselves, down to a few: a number
// that they do not have is half of what there are.
func (k kind) limit(v level, m measure) float64 {
	switch {
	case k != tickets:
		return v.value
	case v.part:
		return v.value * m.whole
	case m.whole > 0 && v.value >= m.whole:
		return m.whole / 2
	}
	return v.value
}

// text says that a limit is passed, or not kept with enough room.
func (k kind) text(m measure, v level, over bool) string {
	most := k.show(v.value, v.part)
	what, side := "", "above"
	switch k {
	case lag:
		what = "replication lag " + k.show(m.value, false)
	case queue:
		what = fmt.Sprintf("queue %.0f", m.value)
	case cacheDirty:
		what = "dirty cache " + percent(m.value)
	case cacheUsed:
		what = "cache in use " + percent(m.value)
	case tickets:
		what, side = fmt.Sprintf("free %s tickets %.0f", m.of, m.value), "below"
		if v.part {
			what = fmt.Sprintf("free %s tickets %.0f of %.0f", m.of, m.value, m.whole)
		}
	case connections:
		what = "connections in use " + percent(m.value)
	case kinds:
	}
	if m.of != "" && k != tickets {
		what += " (" + m.of + ")"
	}
	if !over {
		return what + ", not yet well within " + most
	}
	return what + " " + side + " " + most
}

func percent(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }
