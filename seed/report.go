package seed

// Report says what was loaded and how fast. A cancelled or failed Run returns
// one too, with what was acknowledged by then.
type Report struct {
	NS                 string   `json:"ns"`
	Generator          string   `json:"generator"` // "files" for a source
	Documents          int64    `json:"documents"` // acknowledged; sent, with write concern 0
	Bytes              int64    `json:"bytes"`     // of those documents
	Seconds            float64  `json:"seconds"`   // load and index; the count afterwards is not in it
	DocumentsPerSecond float64  `json:"documents_per_second"`
	LoadSeconds        float64  `json:"load_seconds"`
	IndexSeconds       float64  `json:"index_seconds"` // 0 when built before (its cost is inside the load) or none
	CountSeconds       float64  `json:"count_seconds"`
	MBPerSecond        float64  `json:"mb_per_second"` // 10^6 bytes of BSON
	Batches            int64    `json:"batches"`
	BatchP50MS         float64  `json:"batch_p50_ms"`
	BatchP95MS         float64  `json:"batch_p95_ms"`
	BatchP99MS         float64  `json:"batch_p99_ms"`
	BatchMaxMS         float64  `json:"batch_max_ms"`
	Counted            int64    `json:"counted"`          // asked of the server afterwards
	Before             int64    `json:"before,omitempty"` // documents that were there, with Append
	Others             int64    `json:"others,omitempty"` // documents that others added meanwhile, with Append
	Files              int      `json:"files,omitempty"`
	Rejects            int64    `json:"rejects"`                  // broken records that Config.Bad took
	Retries            int64    `json:"retries"`                  // batches sent again after a failure that passed
	RetryError         string   `json:"retry_error,omitempty"`    // the first such failure
	Earlier            int64    `json:"earlier,omitempty"`        // documents that the load which was resumed had written
	Duplicates         int64    `json:"duplicates"`               // documents left out because their key was there
	DuplicateKeys      []string `json:"duplicate_keys,omitempty"` // some of those keys
	Writers            int      `json:"writers"`
	Batch              int      `json:"batch"` // documents, after the server's limits
	Ordered            bool     `json:"ordered"`
	WriteConcern       string   `json:"write_concern"`
	Index              string   `json:"index"`
}
