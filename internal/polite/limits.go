package polite

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// kind is what a limit is about.
type kind int

// The kinds, in the order they are shown.
const (
	lag         kind = iota // seconds that a member of the replica set is behind
	queue                   // operations that wait for a lock or a ticket
	cacheDirty              // part of the cache that has to be written
	cacheUsed               // part of the cache that is in use
	tickets                 // free tickets of the storage engine, in all or as a part: the limit is the least
	connections             // part of the server's connections that is in use
	kinds
)

// kindInfo says how a limit is written.
type kindInfo struct {
	name string
	room float64 // times the limit from where work goes on
}

// WiredTiger itself keeps its cache about 80 % full: the way back must not lead below.
var kindInfos = [kinds]kindInfo{
	lag:         {"lag", 0.8},
	queue:       {"queue", 0.8},
	cacheDirty:  {"cache-dirty", 0.8},
	cacheUsed:   {"cache-used", 0.95},
	tickets:     {"tickets", 1.25},
	connections: {"connections", 0.95},
}

// level is one limit.
type level struct {
	on    bool
	value float64
	part  bool // value is a part of the whole, 0.15 for 15%
}

// Limits say how much a server may be loaded while commands are sent. The zero value has none.
type Limits struct {
	Threads int           // commands at a time at most, which the job has to keep; 0: no limit
	Rest    time.Duration // between the end of a command and the next one
	// RouterOnly leaves the shards behind a router alone: what the router tells of them is all that counts.
	RouterOnly bool
	levels     [kinds]level
}

// Words of a list of limits beside NAME=VALUE.
const (
	wordDefault = "default"
	wordOff     = "off"
	wordOn      = "on"
	nameThreads = "threads"
	nameRest    = "rest"
	nameShards  = "shards"
)

// The list behind the word default, and that of a gentle run. A set without writes makes one of its own every ten seconds, so a
// member can seem to be that far behind for a moment.
const (
	defaults = "lag=15s,queue=20,cache-dirty=15%,cache-used=95%,tickets=10%,connections=90%"
	nice     = "lag=12s,queue=5,cache-dirty=10%,cache-used=90%,tickets=25%,connections=80%,rest=500ms"
)

// Default are the limits behind the word "default".
func Default() Limits { return known(defaults) }

// Nice are low limits with rests, for half of the threads that were asked for.
func Nice(threads int) Limits {
	l := known(nice)
	l.Threads = max(1, threads/2)
	return l
}

func known(list string) Limits {
	l, err := Limits{}.With(list)
	if err != nil {
		panic(err) // a constant of this package
	}
	return l
}

// Names are what limits are called, in the order they are shown.
func Names() []string {
	var names []string
	for _, k := range kindInfos {
		names = append(names, k.name)
	}
	return append(names, nameThreads, nameRest, nameShards)
}

// Watches reports whether a limit needs the server to be looked at.
func (l Limits) Watches() bool {
	for _, v := range l.levels {
		if v.on {
			return true
		}
	}
	return false
}

// With adds a list of limits, such as "lag=10s,queue=20,cache-dirty=15%,threads=2", to l: NAME=VALUE, NAME=off, or the word
// default, each overriding what was before it.
func (l Limits) With(list string) (Limits, error) {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == wordDefault {
			l.levels = known(defaults).levels
			continue
		}
		name, text, ok := strings.Cut(item, "=")
		if !ok {
			return l, fmt.Errorf("%q: it is %s, or a list of %s with a value each, such as lag=10s,queue=20", item, wordDefault, strings.Join(Names(), ", "))
		}
		if err := l.set(strings.TrimSpace(name), strings.TrimSpace(text)); err != nil {
			return l, fmt.Errorf("%s: %w", item, err)
		}
	}
	return l, nil
}

func (l *Limits) set(name, text string) error {
	off := text == wordOff
	switch name {
	case nameThreads:
		n, err := strconv.Atoi(text)
		if !off && (err != nil || n < 1 || n > 1000) {
			return errors.New("it is a whole number from 1 to 1000, or off")
		}
		l.Threads = n
		return nil
	case nameRest:
		d, err := time.ParseDuration(text)
		if !off && (err != nil || d < 0) {
			return errors.New("it is a time such as 500ms, or off")
		}
		l.Rest = d
		return nil
	case nameShards:
		if !off && text != wordOn {
			return errors.New("it is on, the default, or off: then no shard is asked by itself")
		}
		l.RouterOnly = off
		return nil
	}
	for k, info := range kindInfos {
		if info.name == name {
			if off {
				l.levels[k] = level{}
				return nil
			}
			v, err := kind(k).parse(text)
			l.levels[k] = v
			return err
		}
	}
	return fmt.Errorf("there is no such limit; there are %s", strings.Join(Names(), ", "))
}

// parse reads the value of a limit.
func (k kind) parse(text string) (level, error) {
	if k == lag {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return level{}, errors.New("it is a time such as 10s, or off")
		}
		return level{true, d.Seconds(), false}, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	bad := err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0
	switch k {
	case queue:
		if bad || percent || x != math.Trunc(x) {
			return level{}, errors.New("it is a number of operations such as 20, or off")
		}
		return level{true, x, false}, nil
	case tickets:
		if bad || percent && x >= 100 || !percent && x != math.Trunc(x) {
			return level{}, errors.New("it is the least number of free tickets, such as 16, or the least part of them, such as 10%, or off")
		}
	default:
		if bad || !percent || x <= 0 || x > 100 {
			return level{}, errors.New("it is a percentage such as 15%, or off")
		}
	}
	if percent {
		x /= 100
	}
	return level{true, x, percent}, nil
}

// String is a list that With reads.
func (l Limits) String() string {
	var parts []string
	for k, v := range l.levels {
		if v.on {
			parts = append(parts, kindInfos[k].name+"="+kind(k).show(v.value, v.part))
		}
	}
	if l.Threads > 0 {
		parts = append(parts, fmt.Sprintf("%s=%d", nameThreads, l.Threads))
	}
	if l.Rest > 0 {
		parts = append(parts, fmt.Sprintf("%s=%v", nameRest, l.Rest))
	}
	if l.RouterOnly {
		parts = append(parts, nameShards+"="+wordOff)
	}
	return strings.Join(parts, ",")
}

// show is a value as it is written in a list.
func (k kind) show(x float64, part bool) string {
	switch {
	case k == lag:
		return time.Duration(x * float64(time.Second)).Round(time.Millisecond).String()
	case part:
		return strconv.FormatFloat(math.Round(x*1e4)/100, 'f', -1, 64) + "%"
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
