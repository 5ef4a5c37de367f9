package mimic

import (
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// NotPrimary is the code of a server that is no primary, or no longer.
const NotPrimary = 10107

// Fault is something that goes wrong, or slowly, at chosen occurrences of a command.
type Fault struct {
	Command string
	Match   func(mongofake.Command) bool // further condition; nil: none
	Nth     int                          // first occurrence that is hit, default 1
	Times   int                          // how many are hit from there on, default 1

	Delay  time.Duration // waits first
	Code   int32         // refuses with it
	HangUp bool          // closes the connection instead of a reply
	// StepDown has the member be no primary for so long, from then on.
	StepDown time.Duration
	// Unconfirmed is the code of a write concern that was not met, beside the reply of the work that was done.
	Unconfirmed int32
	Reply       bson.D // instead of the work's
	After       bool   // the engine does the work before it is refused or the connection closed

	seen int
}

// Inject has a fault happen.
func (s *Server) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Nth, f.Times = max(f.Nth, 1), max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// fault returns what is to happen at a command, or nil.
func (s *Server) fault(c mongofake.Command) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hit *Fault
	for _, f := range s.faults {
		if f.Command != c.Name || f.Match != nil && !f.Match(c) {
			continue
		}
		f.seen++
		if hit == nil && f.seen >= f.Nth && f.seen < f.Nth+f.Times {
			hit = f
		}
	}
	return hit
}

// names of the codes that faults and refusals use.
func codeName(code int32) string {
	switch code {
	case 13:
		return "Unauthorized"
	case 18:
		return "AuthenticationFailed"
	case 20:
		return "IllegalOperation"
	case 23:
		return "AlreadyInitialized"
	case 46:
		return "LockBusy"
	case 70:
		return "ShardNotFound"
	case 72:
		return "InvalidOptions"
	case 117:
		return "ConflictingOperationInProgress"
	case 26:
		return "NamespaceNotFound"
	case 59:
		return "CommandNotFound"
	case NotPrimary:
		return "NotMaster"
	}
	return ""
}

func refuse(code int32, text string) bson.D {
	d := mongofake.Error(code, text)
	if name := codeName(code); name != "" {
		d = append(d, bson.E{Key: "codeName", Value: name})
	}
	return d
}

func (f *Fault) reply() bson.D {
	text := "told to fail"
	switch f.Code {
	case NotPrimary:
		text = "not master"
	case 13:
		text = "not authorized on admin to execute command"
	}
	return refuse(f.Code, text)
}
