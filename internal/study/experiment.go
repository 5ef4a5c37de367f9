package study

// Step is a published step.
type Step struct {
	ID        string
	Series    string // of batch-curve; "" elsewhere
	Label     string
	Documents int64   // 0: the step is not one over documents, or was not published
	Seconds   float64 // 0: no time was published
	Said      string  // what was published instead of a time, or beside it
}

// Rate is documents a second, 0 when not both are known.
func (s Step) Rate() float64 {
	if s.Seconds == 0 {
		return 0
	}
	return float64(s.Documents) / s.Seconds
}

// Experiment is a published experiment.
type Experiment struct {
	Name  string
	What  string
	Where string // what it was published for
	Scale float64
	Takes string // about, by default, on 2 cores with the embedded engine
	Steps []Step
	// Remarks say what can't be repeated, and why.
	Remarks []string
	judge   func(*Result) []string
}

// Find returns an experiment, nil when there is none of this name.
func Find(name string) *Experiment {
	for _, e := range Experiments() {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Experiments lists all, in the order in which they are shown.
func Experiments() []*Experiment {
	return []*Experiment{bulkInsert(), guid500k(), batchCurve(), mapReduce20x()}
}

// IDs of steps.
const (
	BulkWhole    = "whole"
	BulkWhole2   = "whole-large"
	BulkStreamed = "streamed"
	BulkParallel = "parallel"
	BulkCount    = "count"
	BulkRanges   = "ranges"
	BulkSeed     = "seed"

	GUIDSingle  = "single"
	GUIDBatches = "batches"
	GUIDFast    = "unacknowledged"
	GUIDBest    = "batches-600"
	GUIDLarge   = "batches-5000"

	NewerServer = "newer-server"
)

// Sizes of bulk-insert's data, at scale 1.
const (
	BulkSmallFile = 1_000_000
	BulkLargeFile = 6_900_000
	BulkTree      = 63_199_505
	BulkFolders   = 51_936
)

func bulkInsert() *Experiment {
	return &Experiment{
		Name: "bulk-insert", Scale: 0.01, Takes: "1 min",
		What:  "JSON files: whole, streamed, in parallel, in ranges",
		Where: "MongoDB Atlas M30, from a laptop with 25 to 35 Mbit/s",
		Steps: []Step{
			{ID: BulkWhole, Label: "whole file, one insertMany", Documents: BulkSmallFile, Seconds: 141, Said: "read 3 s, insert 2 min 18 s"},
			{ID: BulkWhole2, Label: "larger file, whole", Documents: BulkLargeFile, Said: "fails: the file has more than 2 GB"},
			{ID: BulkStreamed, Label: "streamed, one insert at a time", Documents: BulkLargeFile, Seconds: 1750, Said: "100,000 documents a batch, 100 ms pause"},
			{ID: BulkParallel, Label: "streamed, 5 inserts at a time", Documents: BulkLargeFile, Seconds: 867, Said: "200,000 documents buffered, inserts of 20,000"},
			{ID: BulkCount, Label: "counting a folder tree", Documents: BulkTree, Seconds: 430, Said: "51,936 folders"},
			{ID: BulkRanges, Label: "6 folder ranges, 5 inserts each", Documents: BulkTree, Seconds: 5088, Said: "6 processes: 4,197 to 5,088 s"},
			{ID: BulkSeed, Label: "as mrbench seed loads it"},
		},
		Remarks: []string{"the ranges are loaded by six workers of one process; the last step is none of the published ones: the larger file, 5 writers, read and inserted at once"},
		judge:   judgeBulk,
	}
}

// GUIDDocuments is how many guid-500k loads.
const GUIDDocuments = 500_000

func guid500k() *Experiment {
	return &Experiment{
		Name: "guid-500k", Scale: 0.2, Takes: "15 s",
		What:  "guids: one by one, in batches, unacknowledged",
		Where: "MongoDB 2.0 on a desktop, journal off for the batches",
		Steps: []Step{
			{ID: GUIDSingle, Label: "one insert a document", Documents: GUIDDocuments, Seconds: 18.74},
			{ID: GUIDBatches, Label: "batches of 1,000", Documents: GUIDDocuments, Seconds: 5.005},
			{ID: GUIDFast, Label: "the same, w:0 and unordered", Documents: GUIDDocuments, Seconds: 3.50, Said: "also without checks of names"},
			{ID: GUIDBest, Label: "batches of 600", Documents: GUIDDocuments, Said: "the best size"},
			{ID: GUIDLarge, Label: "batches of 5,000", Documents: GUIDDocuments, Said: "above 1,500 much slower"},
		},
		Remarks: []string{"the journal is left as the server has it, and there are no checks of names to leave out"},
		judge:   judgeGUID,
	}
}

// Series of batch-curve.
const (
	Empty            = "empty"
	Indexed          = "indexed"
	Prefilled        = "prefilled"
	PrefilledIndexed = "prefilled, indexed"
)

// CurvePrefill is how many documents a prefilled collection of batch-curve held.
const CurvePrefill = 10_000_000

// curve is seconds by the number of documents of one bulk insert.
var curve = []struct {
	documents int64
	seconds   float64
}{
	{495_334, 105.4},
	{492_524, 100.2},
	{414_414, 84.8},
	{298_660, 69.1},
	{161_424, 29.9},
	{95_551, 17.8},
	{50_000, 12.1},
	{40_000, 9.5},
	{30_000, 6.4},
	{25_000, 5.4},
	{20_000, 3.6},
	{12_000, 3.6},
	{11_000, 3.8},
	{10_000, 2.3},
	{9_000, 3.9},
	{8_000, 2.3},
	{7_000, 1.8},
	{6_000, 1.8},
	{5_000, 1.8},
	{4_500, 0.9},
	{4_000, 0.8},
	{2_866, 0.5},
	{2_085, 0.4},
	{1_807, 0.4},
	{1_550, 0.2},
	{991, 0.3},
	{718, 0.3},
	{276, 0.1},
	{59, 0.06},
}

func batchCurve() *Experiment {
	e := &Experiment{
		Name: "batch-curve", Scale: 0.1, Takes: "45 s",
		What:  "one insert of n documents; indexed; prefilled",
		Where: "MongoDB Atlas M10, from Python",
		Remarks: []string{
			"asking for the inserted documents instead of their ids, which was published as very costly, can't be repeated: an insert command answers with neither",
		},
		judge: judgeCurve,
	}
	for _, series := range []string{Empty, Indexed, Prefilled, PrefilledIndexed} {
		for _, c := range curve {
			s := Step{ID: series + " " + thousands(c.documents), Series: series, Label: thousands(c.documents), Documents: c.documents}
			if series == Empty {
				s.Seconds = c.seconds
			}
			e.Steps = append(e.Steps, s)
		}
	}
	return e
}

// MapReduceDocuments is how many documents mapreduce-20x counts.
const MapReduceDocuments = 10_000_000

func mapReduce20x() *Experiment {
	return &Experiment{
		Name: "mapreduce-20x", Scale: 0.1, Takes: "20 s",
		What:  "unique values: sort, ranges, databases, jsMode",
		Where: "MongoDB 2.4 on an EC2 M3 instance with 4 cores; the last step a 2.5 development build",
		Steps: []Step{
			{ID: "mr", Label: "as written", Documents: MapReduceDocuments, Seconds: 1161.960},
			{ID: "mr-sort", Label: "+ sort on the key", Documents: MapReduceDocuments, Seconds: 192.589},
			{ID: "mr-ranges", Label: "+ 4 ranges, one database", Documents: MapReduceDocuments, Seconds: 205.790, Said: "the slowest of 4 threads"},
			{ID: "mr-ranges-dbs", Label: "+ a database for each range", Documents: MapReduceDocuments, Seconds: 105.821, Said: "one thread was shown"},
			{ID: "mr-ranges-dbs-js", Label: "+ jsMode", Documents: MapReduceDocuments, Seconds: 70.507, Said: "one thread was shown"},
			{ID: NewerServer, Label: "a newer server", Documents: MapReduceDocuments, Seconds: 62.785, Said: "one thread was shown"},
		},
		Remarks: []string{"published times of steps in ranges are of one thread and without a merge of the four outputs; here they are of the whole answer"},
		judge:   judgeMapReduce,
	}
}
