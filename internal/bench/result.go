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
	Warnings      []string    `json:"warnings,omitempty"`
	Context       Context     `json:"context"`
	// ExitCode is the program's, -1 for a file whose run did not come to its end.
	ExitCode int `json:"exit_code"`
}

// Dataset is the collection that was read.
type Dataset struct {
	NS        string `json:"ns"`
	Documents int64  `json:"documents"`
	Key       string `json:"key"`
}

// Server is what answered.
type Server struct {
	Kind        string `json:"kind"`    // "mongodb" or "embedded"
	Version     string `json:"version"` // as buildInfo says
	WireVersion int32  `json:"wire_version"`
	Topology    string `json:"topology"`          // "standalone", "replica set rs0", "sharded", "embedded"
	Address     string `json:"address,omitempty"` // without credentials
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

	Speedup *float64 `json:"speedup"` // median of the first row over this row's
	Answer  *Answer  `json:"answer"`
	Agrees  *bool    `json:"agrees"`  // with the first row's answer; null for the first itself and without an answer
	Skipped string   `json:"skipped"` // why the row was not run here; "" it was
	Error   string   `json:"error"`   // why the row failed; "" it did not

	Parts []Part `json:"parts,omitempty"` // of the last run
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
	Parts         []Part   `json:"parts,omitempty"`
}
