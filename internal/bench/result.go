package bench

import "time"

// SchemaVersion is the version of the result's format. It grows when the
// meaning of a field changes or a field goes; new fields do not change it.
const SchemaVersion = 1

// Result is one run: what was measured, on what, and its rows.
type Result struct {
	SchemaVersion int         `json:"schema_version"`
	Dataset       Dataset     `json:"dataset"`
	Server        Server      `json:"server"`
	Rows          []Row       `json:"rows"`
	Split         *Split      `json:"split,omitempty"`
	Difference    *Difference `json:"difference,omitempty"`
	Into          *Into       `json:"into,omitempty"`  // the result that the row was put into; nil when it was only measured
	Notes         []Note      `json:"notes,omitempty"` // what the times themselves show; see [Annotate]
	Warnings      []string    `json:"warnings,omitempty"`
	Context       Context     `json:"context"`
	// Samples is every finished run of every row, warm-up included, in the order they were made.
	Samples   []Sample   `json:"samples,omitempty"`
	Telemetry *Telemetry `json:"telemetry,omitempty"`
	// ExitCode is the program's, -1 for a file whose run did not come to its end.
	ExitCode int `json:"exit_code"`
}

// Dataset is the collection that was read.
type Dataset struct {
	Job       string `json:"job,omitempty"` // a job of the user's own, "" the count of unique values
	NS        string `json:"ns"`
	Documents int64  `json:"documents"`
	Key       string `json:"key"`
	UUID      string `json:"uuid,omitempty"` // of the collection, where the server gives one
	// Spec is how mrbench filled the collection; nil when it did not, or when the collection has changed since.
	Spec *DataSpec `json:"spec,omitempty"`
}

// What says what was computed, after "documents".
func (d Dataset) What() string {
	if d.Job != "" {
		return "by job " + d.Job
	}
	return "counted by " + d.Key
}

// DataSpec is where documents came from. Equal specs are equal documents.
type DataSpec struct {
	Generator string `json:"generator"` // of seed, "files" for loaded files
	Seed      uint64 `json:"seed"`
	Documents int64  `json:"documents"`
	Field     string `json:"field,omitempty"` // that the generator fills
	Keys      int64  `json:"keys,omitempty"`  // different values asked for; 0 where the generator has no such number
	// Digest of the generator's own description (a template) or of the files' names and sizes; "" where Generator, Seed,
	// Documents and Keys say all.
	Digest string `json:"digest,omitempty"`
}

// Server is what answered.
type Server struct {
	Kind        string `json:"kind"`    // "mongodb" or "embedded"
	Version     string `json:"version"` // as buildInfo says
	WireVersion int32  `json:"wire_version"`
	Topology    string `json:"topology"`            // "standalone", "replica set rs0", "sharded", "embedded"
	Address     string `json:"address,omitempty"`   // without credentials
	Throwaway   bool   `json:"throwaway,omitempty"` // started by mrbench for this run alone
	// Of a sharded cluster, as far as the user may see it.
	Shards   []string `json:"shards,omitempty"`   // by name
	Balancer string   `json:"balancer,omitempty"` // whether it moves chunks, at the start
}

// Context is where and how the run was made.
type Context struct {
	RunID       string         `json:"run_id"`
	Started     time.Time      `json:"started"`
	Mrbench     string         `json:"mrbench"`
	Go          string         `json:"go"`
	OS          string         `json:"os"`
	Arch        string         `json:"arch"`
	Host        string         `json:"host"`
	CPU         string         `json:"cpu,omitempty"`
	CPUs        int            `json:"cpus"`
	MemoryBytes int64          `json:"memory_bytes,omitempty"`
	Load        *[3]float64    `json:"load,omitempty"` // 1, 5 and 15 minutes, at the start
	Options     map[string]any `json:"options"`
	Schedule    *Schedule      `json:"schedule,omitempty"`
	// Where pipelines read, and how outputs were confirmed; "" the server's default.
	ReadPreference string `json:"read_preference,omitempty"`
	ReadConcern    string `json:"read_concern,omitempty"`
	WriteConcern   string `json:"write_concern,omitempty"`
}

// Schedule is how the runs were arranged.
type Schedule struct {
	Runs    int     `json:"runs"` // of each row at least
	Warmup  int     `json:"warmup"`
	Shuffle *uint64 `json:"shuffle_seed"` // of the rows' order in each round; null when they kept theirs
	// BudgetSeconds is how long rounds were added; 0 is no longer than Runs.
	BudgetSeconds float64 `json:"budget_seconds,omitempty"`
	PauseSeconds  float64 `json:"pause_seconds,omitempty"` // before each run
	Prepare       string  `json:"prepare,omitempty"`       // command that ran before each run
}

// Split is how the ranges were found, and the proof that they cover the collection.
type Split struct {
	Strategy     string  `json:"strategy"`
	Skipped      []Skip  `json:"skipped,omitempty"`
	SplitKeys    int     `json:"split_keys"`
	Seconds      float64 `json:"seconds"`
	CountSeconds float64 `json:"count_seconds"`
	Imbalance    float64 `json:"imbalance"` // largest piece over the mean piece
	Documents    int64   `json:"documents"` // of the collection; the pieces hold as many
	Pieces       []Piece `json:"pieces"`
	// Plan says that the ranges are those of a saved list; nil when they were cut for the run.
	Plan *SplitPlan `json:"plan,omitempty"`
	// Notes say where pieces lie on a sharded cluster, and why some lie on several shards.
	Notes []string `json:"notes,omitempty"`
}

// SplitPlan is a saved list of ranges and the part of it that a run took.
type SplitPlan struct {
	ID     string `json:"id"`     // of the list
	Ranges int    `json:"ranges"` // in the list
	From   int    `json:"from"`   // taken, counted from 1
	To     int    `json:"to"`     // the last one taken
}

// Partial says that other machines run the other ranges.
func (p *SplitPlan) Partial() bool { return p != nil && p.To-p.From+1 < p.Ranges }

// Into is one result that is kept, and that several runs may fill.
type Into struct {
	NS       string `json:"ns"`
	Mode     string `json:"mode"`     // "merge" or "reduce"
	Ranges   int    `json:"ranges"`   // of the list
	In       int    `json:"in"`       // of these, at the end of the run
	Computed []int  `json:"computed"` // ranges that this run put in, counted from 1
	// Check is there when all ranges are in.
	Check *IntoCheck `json:"check,omitempty"`
}

// IntoCheck is the whole result beside what its parts come to.
type IntoCheck struct {
	Keys     int64   `json:"keys"`
	PartKeys int64   `json:"part_keys"`
	Sum      float64 `json:"sum"`
	// PartSum is null where values are put together by other ways than adding.
	PartSum *float64 `json:"part_sum"`
	Agrees  bool     `json:"agrees"`
}

// Skip is a strategy that was not used, and why.
type Skip struct {
	Strategy string `json:"strategy"`
	Reason   string `json:"reason"`
}

// Piece is a range [From, To) of the key and how many documents are in it.
type Piece struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Documents int64  `json:"documents"`
	Shard     string `json:"shard,omitempty"` // that has all of it; "" several, or it is not known
}

// Row is one way of computing the answer and what came of it.
type Row struct {
	ID        string `json:"id"`
	Label     string `json:"label"`
	Threads   int    `json:"threads"`
	Ranges    int    `json:"ranges"`
	OutputDBs int    `json:"output_dbs"` // databases the answer is written to; 0 when it is streamed to the client

	Seconds       *Seconds `json:"seconds"`        // wall; null when the row has no finished run
	MergeSeconds  *float64 `json:"merge_seconds"`  // median, inside Seconds; null when nothing is merged
	ServerSeconds *float64 `json:"server_seconds"` // median of what the server reported; null when it does not

	Counts    Counts `json:"counts"`
	Mode      string `json:"mode"`       // what became of jsMode: "js", "mixed", "ignored"; "" not asked for
	IndexUsed string `json:"index_used"` // name, "" none
	Covered   *bool  `json:"covered"`    // whether the index alone answered; null when not asked for
	// NoEffect is known before the row runs: the option that it adds to the row before changes nothing on this server.
	NoEffect *NoEffect `json:"no_effect,omitempty"`

	Speedup *float64 `json:"speedup"` // median of the first row over this row's; nil when one of them holds pauses
	// Versus compares this row's times with the first row's; nil for the first itself.
	Versus   *Versus   `json:"versus_first,omitempty"`
	Outliers []Outlier `json:"outliers,omitempty"` // they are in Seconds all the same
	Answer   *Answer   `json:"answer"`
	Agrees   *bool     `json:"agrees"`  // with the first row's answer; null for the first itself and without an answer
	Skipped  string    `json:"skipped"` // why the row was not run here; "" it was
	Error    string    `json:"error"`   // why the row failed; "" it did not

	// PausedSeconds is the sum of its runs': times that hold pauses are not to be compared.
	PausedSeconds float64  `json:"paused_seconds,omitempty"`
	PausedRuns    int      `json:"paused_runs,omitempty"`
	PausedFor     []string `json:"paused_for,omitempty"`

	Usage *Usage `json:"usage,omitempty"` // amounts are medians, peaks the highest of all runs
	Parts []Part `json:"parts,omitempty"` // of the last run
	// PerShard is how many commands could run at a time on one shard; 0: as many as threads.
	PerShard int         `json:"per_shard,omitempty"`
	Shards   []ShardLoad `json:"shards,omitempty"` // of the last run, on a sharded cluster
}

// NoEffect is an option that a server takes without any change, or that is left out because it refuses it.
type NoEffect struct {
	Option string `json:"option"` // "sort", "ranges", "dbs" or "jsMode"
	Reason string `json:"reason"`
}

// Text says it of a row.
func (n *NoEffect) Text(row string) string {
	what := ""
	if n.Option == "dbs" {
		what = "separate output databases have "
	}
	return row + ": " + what + "no effect here: " + n.Reason
}

// Seconds summarizes wall times.
type Seconds struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	// CI is the 95 % confidence interval of the median; null below six runs.
	CI  *[2]float64 `json:"ci95"`
	All []float64   `json:"all"` // in the order they were measured
}

// Outlier is a run whose time is far from the others of its row.
type Outlier struct {
	Round    int     `json:"round"`
	Seconds  float64 `json:"seconds"`
	Ratio    float64 `json:"ratio"`    // over the row's median
	Distance float64 `json:"distance"` // modified z-score: see [Outliers]
}

// Versus compares the times of two sets of runs, a and b.
type Versus struct {
	RunsA int `json:"runs_a"`
	RunsB int `json:"runs_b"`
	// Ratio is the middle of all ratios of a run of b to a run of a (Hodges and Lehmann): below 1, b is faster.
	Ratio float64 `json:"ratio"`
	// CI is the interval of Ratio at Confidence; nil when there are too few runs for any.
	CI *[2]float64 `json:"ci"`
	// P is the two-sided p-value of the Mann–Whitney test.
	P float64 `json:"p"`
	// Shown says that P is below Alpha.
	Shown bool `json:"shown"`
	// Needed is how many runs each side needs in all, so that a real difference of this size is shown four times out of
	// five; 0 when a difference is shown, or when no number up to [MostNeeded] would do.
	Needed int `json:"needed,omitempty"`
}

// Note is something that the times themselves show and a reader should know.
type Note struct {
	Kind  string `json:"kind"` // one of the Note constants
	Row   string `json:"row,omitempty"`
	Round int    `json:"round,omitempty"`
	// Value is the number the note is about: a ratio for NoteFirstRun and NoteOutlier, a count of runs for the others.
	Value float64 `json:"value,omitempty"`
	Text  string  `json:"text"`
}

// Kinds of notes.
const (
	NoteFirstRun = "first_run"     // the first run was markedly slower than the rest
	NoteOutlier  = "outlier"       // a run is far from the others
	NoteFewRuns  = "few_runs"      // too few runs for an interval
	NoteNoisy    = "noisy"         // the interval is wide; Value is how many runs in all would make it narrow
	NotePaused   = "paused"        // times hold pauses for the sake of others; Value is how many seconds
	NoteSame     = "no_difference" // not shown to be faster or slower than the first row
)

// Counts as the server gave them; null where it does not.
type Counts struct {
	Input  *int64 `json:"input"`
	Emit   *int64 `json:"emit"`
	Reduce *int64 `json:"reduce"`
	Output *int64 `json:"output"`
}

// Answer identifies an answer independently of the order it came in.
type Answer struct {
	Keys   int64  `json:"keys"`
	Sum    string `json:"sum"`    // of all values, exact for whole numbers
	Digest string `json:"digest"` // hexadecimal
}

// Part is one range of a row.
type Part struct {
	From          string   `json:"from"`
	To            string   `json:"to"`
	Database      string   `json:"database,omitempty"`
	Thread        int      `json:"thread"`
	Start         float64  `json:"start"`   // seconds after the row's start
	Seconds       float64  `json:"seconds"` // wall
	ServerSeconds *float64 `json:"server_seconds"`
	Counts        Counts   `json:"counts"`
	Mode          string   `json:"mode,omitempty"`
	Shard         string   `json:"shard,omitempty"` // that the range lies on; "" several, or it is not known
	// Shards are those that the command was sent to, where the router says.
	Shards []PartShard `json:"shards,omitempty"`
}

// PartShard is one shard's share of a command. The numbers are null where the router does not tell them.
type PartShard struct {
	Shard  string `json:"shard"`
	Input  *int64 `json:"input"`
	Output *int64 `json:"output"`
}

// ShardLoad is what a row's ranges were for one shard.
type ShardLoad struct {
	Shard     string  `json:"shard"`     // "" for ranges that lie on several, or on one that is not known
	Ranges    int     `json:"ranges"`    // that lie on it
	Documents int64   `json:"documents"` // read there: as the router told, else those of its ranges
	Keys      int64   `json:"keys"`      // results from there, before parts are put together
	Seconds   float64 `json:"seconds"`   // the commands of its ranges, added up
}

// Difference is what two answers disagree on.
type Difference struct {
	Row   string    `json:"row"`
	First string    `json:"first"` // the row whose answer it was compared with
	Keys  []KeyDiff `json:"keys"`  // the first few, ascending
}

// KeyDiff is a key with the values both answers have for it, in Extended JSON; "" where the key is missing.
type KeyDiff struct {
	Key   string `json:"key"`
	First string `json:"first"`
	Row   string `json:"row"`
}

// Sample is one run of one row.
type Sample struct {
	Row           string   `json:"row"`
	Round         int      `json:"round"` // 1 and up; warm-up rounds count down to 0
	Order         int      `json:"order"` // place in the round, 1 and up
	Start         float64  `json:"start"` // seconds after Context.Started
	Warmup        bool     `json:"warmup,omitempty"`
	Seconds       float64  `json:"seconds"`
	MergeSeconds  *float64 `json:"merge_seconds"`
	ServerSeconds *float64 `json:"server_seconds"`
	Counts        Counts   `json:"counts"`
	Mode          string   `json:"mode"`
	IndexUsed     string   `json:"index_used"`
	Covered       *bool    `json:"covered"`
	OutputDBs     int      `json:"output_dbs"`
	Answer        *Answer  `json:"answer"`
	// PausedSeconds of Seconds, at least one of the run's commands was held back for the sake of others, for these reasons.
	PausedSeconds float64  `json:"paused_seconds,omitempty"`
	PausedFor     []string `json:"paused_for,omitempty"`
	Retried       string   `json:"retried,omitempty"` // why a first try failed: the server went away; this is the second
	Usage         *Usage   `json:"usage,omitempty"`
	Parts         []Part   `json:"parts,omitempty"`
}
