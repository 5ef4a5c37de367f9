package polite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"
)

// Codes of refusals.
const (
	codeUnauthorized = 13
	codeLogin        = 18 // AuthenticationFailed
)

// refused reports whether the server answered, and said no.
func refused(err error) bool {
	var ce mongo.CommandError
	if !errors.As(err, &ce) || mongo.IsNetworkError(err) {
		return false
	}
	return !ce.HasErrorLabel("RetryableWriteError") && !ce.HasErrorLabel("TransientTransactionError")
}

// loginRefused reports whether a server answered and let nobody in. The driver has no type for that.
func loginRefused(err error) bool {
	var ce mongo.CommandError
	return errors.As(err, &ce) && ce.Code == codeLogin || err != nil && strings.Contains(err.Error(), "auth error")
}

// refusals are the questions that a server refused.
type refusals struct {
	list  []refusal
	noted [kinds]bool
}

type refusal struct {
	what  string // is not known without the answer
	asked string
	err   error
}

// add notes a refused question. what is "" for all that it would have told.
func (r *refusals) add(want Limits, what string, s source, err error) {
	var names []string
	for _, k := range s.kinds {
		if r.noted[k] = true; want.levels[k].on {
			names = append(names, kindInfos[k].name)
		}
	}
	if what == "" {
		what = strings.Join(names, ", ")
	}
	r.list = append(r.list, refusal{what, s.name, err})
}

// notes say what is not watched for that, and what would help.
func (r *refusals) notes(w *watcher) (notes []string) {
	if len(r.list) == 0 {
		return nil
	}
	on := ""
	if w.shard != "" {
		on = " on the shard"
	}
	if w.login != nil {
		var all []string
		for _, x := range r.list {
			all = append(all, x.what)
		}
		return []string{strings.Join(all, ", and ") + ": the login is refused there, as users of a cluster are on its config servers; " +
			"the same user made on the shard too, with the role clusterMonitor, would help"}
	}
	for _, x := range r.list {
		text := fmt.Sprintf("%s: %s is refused (%s)", x.what, x.asked, refusalText(x.err))
		var ce mongo.CommandError
		if errors.As(x.err, &ce) && ce.Code == codeUnauthorized {
			text += "; the role clusterMonitor" + on + " would help"
		}
		notes = append(notes, text)
	}
	return notes
}

// refusalText is a refusal without the command, which servers print with ids that are each connection's own.
func refusalText(err error) string {
	text, _, _ := strings.Cut(err.Error(), " to execute command")
	return text
}

// shardNotes are the notes of all shards, each once with the shards that it is about.
func shardNotes(all []*watcher) (notes []string) {
	of := map[string][]string{}
	var order []string
	for _, w := range all {
		for _, n := range w.notes {
			if of[n] == nil {
				order = append(order, n)
			}
			name := w.shard
			if !w.watches() {
				name += " (" + w.host + ")"
			}
			of[n] = append(of[n], name)
		}
	}
	for _, n := range order {
		notes = append(notes, ShardsText(of[n])+": "+n)
	}
	return notes
}

// mostShards is how many shards are named at a time.
const mostShards = 8

// ShardsText names shards: "shard s1", or "shards s1, s2".
func ShardsText(names []string) string {
	text := "shard "
	if len(names) > 1 {
		text = "shards "
	}
	shown := slices.Clone(names[:min(len(names), mostShards)])
	text += strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
