package bench

// Usage is what one run of a row used, from just before its first command to just after its last. A field is null
// where nothing could be found out. When the server runs inside mrbench, its share can't be told from the client's: then
// the fields of the process are set and those of server and client are null.
type Usage struct {
	ServerCPUSeconds  *float64 `json:"server_cpu_seconds"`
	ClientCPUSeconds  *float64 `json:"client_cpu_seconds"`
	ProcessCPUSeconds *float64 `json:"process_cpu_seconds"`
	ServerPeakBytes   *int64   `json:"server_peak_bytes"` // highest resident memory of all samples
	ClientPeakBytes   *int64   `json:"client_peak_bytes"`
	ProcessPeakBytes  *int64   `json:"process_peak_bytes"`
	DiskReadBytes     *int64   `json:"disk_read_bytes"` // by the server's process, as its system counts
	DiskWrittenBytes  *int64   `json:"disk_written_bytes"`
	SentBytes         *int64   `json:"sent_bytes"` // by mrbench, on its connections
	ReceivedBytes     *int64   `json:"received_bytes"`
}

// Where the server's process is, as seen from mrbench.
const (
	SameProcess = "same process"
	SameHost    = "same host"
	Elsewhere   = "elsewhere" // on another host, or in a container of this one: its process can't be seen
	Unknown     = "unknown"   // it does not say
)

// Telemetry is the load of server and host while rows ran.
type Telemetry struct {
	IntervalSeconds float64  `json:"interval_seconds"` // between samples
	Server          string   `json:"server"`           // SameProcess, SameHost, Elsewhere or Unknown
	PID             int      `json:"pid,omitempty"`    // of the server's process; 0 when it can't be seen
	Notes           []string `json:"notes,omitempty"`  // what is missing, and why
	Runs            []Series `json:"runs,omitempty"`   // in files each is a line of its own
}

// Series is the load over one run of a row: a column for each thing that was observed, with one value for each time in
// At. Long runs have fewer, longer intervals. Amounts are a second; memory, connections and such are the highest of the
// interval. A column that the server or host does not give is absent.
type Series struct {
	Row    string    `json:"row"`
	Round  int       `json:"round"`
	Warmup bool      `json:"warmup,omitempty"`
	Start  float64   `json:"start"` // seconds after the context's started
	At     []float64 `json:"at"`    // ends of the intervals, seconds after Start; the first begins at 0

	ServerCPU          []float64 `json:"server_cpu,omitempty"` // processors in use
	ClientCPU          []float64 `json:"client_cpu,omitempty"`
	ProcessCPU         []float64 `json:"process_cpu,omitempty"`
	ServerMemoryBytes  []float64 `json:"server_memory_bytes,omitempty"`
	ClientMemoryBytes  []float64 `json:"client_memory_bytes,omitempty"`
	ProcessMemoryBytes []float64 `json:"process_memory_bytes,omitempty"`
	DiskReadBytes      []float64 `json:"disk_read_bytes,omitempty"`
	DiskWrittenBytes   []float64 `json:"disk_written_bytes,omitempty"`
	SentBytes          []float64 `json:"sent_bytes,omitempty"`
	ReceivedBytes      []float64 `json:"received_bytes,omitempty"`
	NetworkInBytes     []float64 `json:"network_in_bytes,omitempty"`
	NetworkOutBytes    []float64 `json:"network_out_bytes,omitempty"`

	Inserts           []float64 `json:"inserts,omitempty"`
	Queries           []float64 `json:"queries,omitempty"`
	Updates           []float64 `json:"updates,omitempty"`
	Deletes           []float64 `json:"deletes,omitempty"`
	GetMores          []float64 `json:"getmores,omitempty"`
	Commands          []float64 `json:"commands,omitempty"`
	DocumentsInserted []float64 `json:"documents_inserted,omitempty"`
	DocumentsReturned []float64 `json:"documents_returned,omitempty"`

	Connections     []float64 `json:"connections,omitempty"`
	Active          []float64 `json:"active,omitempty"`
	Queued          []float64 `json:"queued,omitempty"`
	LockWait        []float64 `json:"lock_wait,omitempty"` // seconds waited, a second
	CacheBytes      []float64 `json:"cache_bytes,omitempty"`
	CacheDirtyBytes []float64 `json:"cache_dirty_bytes,omitempty"`
}

// usageOf is the median of amounts and the highest of peaks.
func usageOf(samples []Sample) *Usage {
	var all []*Usage
	for _, s := range samples {
		if s.Usage != nil {
			all = append(all, s.Usage)
		}
	}
	if len(all) == 0 {
		return nil
	}
	seconds := func(of func(*Usage) *float64) *float64 {
		var x []float64
		for _, u := range all {
			if v := of(u); v != nil {
				x = append(x, *v)
			}
		}
		return medianOf(x)
	}
	bytes := func(of func(*Usage) *int64) *int64 {
		var x []float64
		for _, u := range all {
			if v := of(u); v != nil {
				x = append(x, float64(*v))
			}
		}
		m := medianOf(x)
		if m == nil {
			return nil
		}
		n := int64(*m)
		return &n
	}
	peak := func(of func(*Usage) *int64) (most *int64) {
		for _, u := range all {
			if v := of(u); v != nil && (most == nil || *v > *most) {
				most = v
			}
		}
		return most
	}
	return &Usage{
		ServerCPUSeconds:  seconds(func(u *Usage) *float64 { return u.ServerCPUSeconds }),
		ClientCPUSeconds:  seconds(func(u *Usage) *float64 { return u.ClientCPUSeconds }),
		ProcessCPUSeconds: seconds(func(u *Usage) *float64 { return u.ProcessCPUSeconds }),
		ServerPeakBytes:   peak(func(u *Usage) *int64 { return u.ServerPeakBytes }),
		ClientPeakBytes:   peak(func(u *Usage) *int64 { return u.ClientPeakBytes }),
		ProcessPeakBytes:  peak(func(u *Usage) *int64 { return u.ProcessPeakBytes }),
		DiskReadBytes:     bytes(func(u *Usage) *int64 { return u.DiskReadBytes }),
		DiskWrittenBytes:  bytes(func(u *Usage) *int64 { return u.DiskWrittenBytes }),
		SentBytes:         bytes(func(u *Usage) *int64 { return u.SentBytes }),
		ReceivedBytes:     bytes(func(u *Usage) *int64 { return u.ReceivedBytes }),
	}
}
