package splitter

import "fmt"

// Refusal is why an index can't be used for ranges.
type Refusal string

// What makes an index useless for ranges. Some leave documents out, the others
// do not hold values in their order.
const (
	Sparse    Refusal = "sparse"
	Partial   Refusal = "partial"
	Hidden    Refusal = "hidden"
	Hashed    Refusal = "hashed"
	Wildcard  Refusal = "wildcard"
	Special   Refusal = "special" // text, 2d, 2dsphere, …
	Collation Refusal = "collation"
)

// Refusals lists them all.
func Refusals() []Refusal {
	return []Refusal{Sparse, Partial, Hidden, Hashed, Wildcard, Special, Collation}
}

// Reason says what is wrong with such an index, as the end of a sentence about it.
func (r Refusal) Reason() string {
	switch r {
	case Sparse:
		return "is sparse: it leaves out documents without the key"
	case Partial:
		return "is partial: it leaves out documents that its filter does not match"
	case Hidden:
		return "is hidden: the server does not read it"
	case Hashed:
		return "is hashed: hashes have another order than the values"
	case Wildcard:
		return "is a wildcard index: it leaves out documents without the key"
	case Collation:
		return "has a collation: it has strings in another order than ranges compare them"
	default:
		return "is of a special kind: it does not hold the values in their order"
	}
}

// Unusable is an index that holds the key and can't be used.
type Unusable struct {
	Index   string
	Refusal Refusal
	Kind    string // what the index says of the key: "hashed", "text", …; empty for a plain one
}

func (u Unusable) String() string {
	if u.Refusal == Special {
		return fmt.Sprintf("%s is of kind %s: it does not hold the values in their order", u.Index, u.Kind)
	}
	return u.Index + " " + u.Refusal.Reason()
}
