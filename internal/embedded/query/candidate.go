package query

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// Bounds of several fields multiply ({a: {$in: […]}, b: {$in: […]}}); beyond this many
// ranges the later fields are tested in the scan instead.
const maxBounds = 8192

// candidate is one index with what it would do for the request.
type candidate struct {
	pl       *planner
	ix       *store.Index
	sets     []intervals // by index field
	bounds   []store.Bound
	empty    bool
	entries  []entryTest
	residual []conjunct
	points   int // leading fields bound to single values
	next     int // how narrow the field after them is, see narrowness
	sorted   bool
	reverse  bool
	covered  bool
	needs    []string
	asked    bool // there is a sort
}

// candidate looks at one index. ok is false when it can't answer the request. hinted: the person
// insists, so a sparse index is taken although it may leave documents out, as MongoDB does.
func (pl *planner) candidate(ix *store.Index, hinted bool) (*candidate, bool) {
	if ix.Hashed {
		return nil, false
	}
	cd := &candidate{pl: pl, ix: ix}
	cd.bound()
	if !hinted && ix.Sparse && !cd.impliesPresence() {
		return nil, false
	}
	if ix.Partial != nil && !pl.implies(ix.Partial) {
		return nil, false
	}
	cd.order()
	cd.cover()
	return cd, true
}

func multikeyField(ix *store.Index, i int) bool {
	return i < len(ix.MultikeyFields) && ix.MultikeyFields[i]
}

// bound finds the bounds, the tests of entries, and what is left to check on documents.
func (cd *candidate) bound() {
	ix, conj := cd.ix, cd.pl.conj
	exact := make([]bool, len(conj))
	multikeyUsed := false
	cd.sets = make([]intervals, len(ix.Fields))
	for i, f := range ix.Fields {
		cd.sets[i] = everything()
		// a number in the path may be a position or a name: entries don't say which
		if hasIndex(f.Path) {
			continue
		}
		multikey := multikeyField(ix, i)
		if multikey && multikeyUsed {
			// fields on one array path have entries by element: bounds on two of
			// them would ask one element to satisfy what two may
			continue
		}
		zones := make([]zone, len(conj))
		b := zoneBuilder{f.Path, multikey}
		for j, c := range conj {
			zones[j] = b.node(c.node, false)
		}
		cd.sets[i] = b.all(zones).upper
		multikeyUsed = multikeyUsed || multikey && !cd.sets[i].isEverything()
		for j, z := range zones {
			// a multikey field is bounded by one condition, the others stay to be checked
			if z.exact() && (!multikey || z.upper.equal(cd.sets[i])) {
				exact[j] = true
			}
		}
	}
	for j, c := range conj {
		if !exact[j] {
			cd.residual = append(cd.residual, c)
		}
	}
	cd.layBounds()
}

// layBounds makes scan bounds of the leading fields' sets, and entry tests of the others.
func (cd *candidate) layBounds() {
	prefixes := [][]byte{nil}
	var bounds []store.Bound
	i := 0
	for ; i < len(cd.sets) && bounds == nil; i++ {
		set := cd.sets[i]
		if len(set) == 0 {
			cd.empty = true
			return
		}
		if set.isEverything() || i > 0 && len(prefixes)*len(set) > maxBounds {
			break
		}
		if cd.ix.Fields[i].Desc {
			set = set.inverted()
		}
		if set.allPoints() {
			longer := make([][]byte, 0, len(prefixes)*len(set))
			for _, p := range prefixes {
				for _, iv := range set {
					longer = append(longer, slices.Concat(p, iv.lo.key))
				}
			}
			prefixes = longer
			cd.points++
			continue
		}
		for _, p := range prefixes {
			for _, iv := range set {
				bounds = append(bounds, store.Bound{Lo: slices.Concat(p, iv.lo.pos), Hi: slices.Concat(p, iv.hi.pos)})
			}
		}
		cd.next = narrowness(cd.sets[i])
	}
	for ; i < len(cd.sets); i++ {
		if len(cd.sets[i]) == 0 {
			cd.empty = true
			return
		}
		if !cd.sets[i].isEverything() {
			set := cd.sets[i]
			if cd.ix.Fields[i].Desc {
				set = set.inverted()
			}
			cd.entries = append(cd.entries, entryTest{i, set})
		}
	}
	if bounds == nil && cd.points > 0 {
		for _, p := range prefixes {
			bounds = append(bounds, store.Bound{Lo: p, Hi: bsonx.KeySuccessor(p)})
		}
	}
	cd.bounds = bounds
}

// impliesPresence: every matching document is in a sparse index, as the filter asks for some indexed field.
func (cd *candidate) impliesPresence() bool {
	null := encode(bsonx.Null())
	for i, f := range cd.ix.Fields {
		if !cd.sets[i].has(null) {
			return true
		}
		for _, c := range cd.pl.conj {
			if n, ok := c.node.(*pathNode); ok && n.path.full == f.Path && !hasIndex(f.Path) {
				if _, ok := n.leaf.(existsLeaf); ok {
					return true
				}
			}
		}
	}
	return false
}

// implies reports whether the filter lets through only documents that the partial filter holds for.
func (pl *planner) implies(partial bsonx.Doc) bool {
	want, err := ParseFilter(partial, nil)
	if err != nil {
		return false
	}
	for _, w := range want.conj {
		if !slices.ContainsFunc(pl.conj, func(c conjunct) bool { return impliesOne(c, w) }) {
			return false
		}
	}
	return true
}

func impliesOne(c, want conjunct) bool {
	if bsonx.CompareDocs(c.src, want.src) == 0 {
		return true
	}
	w, ok := want.node.(*pathNode)
	if !ok || hasIndex(w.path.full) {
		return false
	}
	// As if arrays were possible: then both say "some element is in the set", and the inner set implies the outer.
	b := zoneBuilder{w.path.full, true}
	from, to := b.node(c.node, false), b.leaf(w.leaf, false)
	return from.upper.within(to.lower)
}

// order sees whether walking the index gives the sort, and in which direction.
func (cd *candidate) order() {
	s := cd.pl.r.Sort
	if s == nil || len(s.Fields) == 0 {
		cd.sorted = true
		return
	}
	cd.asked = true
	fields := cd.ix.Fields
	single := func(i int) bool { return len(cd.sets[i]) == 1 && cd.sets[i].allPoints() }
	i, dir := 0, 0
	for _, want := range s.Fields {
		for i < len(fields) && fields[i].Path != want.Path && single(i) {
			i++
		}
		// entries with equal keys are in _id order, which the _id at the end of a sort then asks for
		desc, multikey := false, false
		switch {
		case i < len(fields) && fields[i].Path == want.Path:
			if hasIndex(want.Path) {
				return
			}
			desc, multikey = fields[i].Desc, multikeyField(cd.ix, i)
			if single(i) && !multikey {
				i++
				continue
			}
			// the sort key of an array is its smallest or largest element, even one outside of the bounds
			if multikey && !cd.sets[i].isEverything() {
				return
			}
		case i == len(fields) && want.Path == "_id" && !cd.ix.Unique:
		case cd.constant(want.Path):
			continue
		default:
			return
		}
		d := 1
		if desc != want.Desc {
			d = -1
		}
		if dir != 0 && d != dir {
			return
		}
		dir = d
		i++
		if i > len(fields) {
			break
		}
	}
	cd.sorted, cd.reverse = true, dir < 0
}

// constant: the path has one value in all that the bounds hold.
func (cd *candidate) constant(path string) bool {
	for i, f := range cd.ix.Fields {
		if f.Path == path && !multikeyField(cd.ix, i) && len(cd.sets[i]) == 1 && cd.sets[i].allPoints() {
			return true
		}
	}
	return false
}

// cover sees whether the entries alone answer: all that the consumer, the residual
// filter and the sort read is in the index, as it was in the document.
func (cd *candidate) cover() {
	r := cd.pl.r
	if r.Needs == nil || cd.ix.IsMultikey() {
		return
	}
	needs := slices.Clone(r.Needs)
	rest := &Filter{conj: cd.residual}
	if rest.Deps(func(p string) { needs = append(needs, p) }) {
		return
	}
	if !cd.sorted {
		for _, f := range r.Sort.Fields {
			needs = append(needs, f.Path)
		}
	}
	for _, n := range needs {
		// every entry names its document's _id
		if !covers("_id", n) && !slices.ContainsFunc(cd.ix.Fields, func(f store.IndexField) bool { return covers(f.Path, n) && !hasIndex(f.Path) }) {
			return
		}
	}
	cd.covered, cd.needs = true, needs
}

// useful: the index does something that a collection scan does not.
func (cd *candidate) useful() bool {
	return cd.bounded() || cd.asked && cd.sorted
}

// bounded: the index is read in part only.
func (cd *candidate) bounded() bool { return cd.empty || cd.points > 0 || cd.next > 0 }

// narrow: the bounds are single values or closed on both sides.
func (cd *candidate) narrow() bool { return cd.empty || cd.points > 0 || cd.next >= 2 }

// boundedBy reports whether a condition bounds the index's first field.
func (cd *candidate) boundedBy(c conjunct) bool {
	b := zoneBuilder{cd.ix.Fields[0].Path, multikeyField(cd.ix, 0)}
	return cd.bounded() && !b.node(c.node, false).upper.isEverything()
}

// better compares two useful candidates by the rules of MakePlan.
func (cd *candidate) better(o *candidate) bool {
	for _, d := range [...]int{
		rank(cd.empty) - rank(o.empty),
		cd.unique() - o.unique(),
		cd.points - o.points,
		cd.next - o.next,
		rank(cd.asked && cd.sorted) - rank(o.asked && o.sorted),
		rank(cd.covered) - rank(o.covered),
		len(cd.entries) - len(o.entries),
		len(o.ix.Fields) - len(cd.ix.Fields),
	} {
		if d != 0 {
			return d > 0
		}
	}
	return false
}

// unique: the bounds hold one document at most.
func (cd *candidate) unique() int {
	return rank((cd.ix.Unique || cd.ix.IsID()) && cd.points == len(cd.ix.Fields) && len(cd.bounds) == 1)
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}
