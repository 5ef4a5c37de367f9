package cli

import (
	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// usageTable shows what rows used; nil when that was not observed.
func usageTable(r *bench.Result) *report.Table {
	var cpu []float64
	known := false
	for _, row := range r.Rows {
		if u := row.Usage; u != nil {
			known = true
			for _, s := range []*float64{u.ServerCPUSeconds, u.ClientCPUSeconds, u.ProcessCPUSeconds} {
				if s != nil {
					cpu = append(cpu, *s)
				}
			}
		}
	}
	if !known {
		return nil
	}
	unit := report.UnitFor(cpu...)
	t := &report.Table{
		Title: "what each row used",
		Columns: []report.Column{
			{Title: "row", Name: "id", Left: true},
			{Title: "CPU " + unit.Name, Name: "process_cpu_seconds", Drop: 1},
			{Title: "server CPU " + unit.Name, Name: "server_cpu_seconds", Drop: 1},
			{Title: "cores", Drop: 2},
			{Title: "client CPU " + unit.Name, Name: "client_cpu_seconds", Drop: 1},
			{Title: "memory", Name: "process_peak_bytes", Drop: 3},
			{Title: "server mem", Name: "server_peak_bytes", Drop: 3},
			{Title: "client mem", Name: "client_peak_bytes", Drop: 5},
			{Title: "disk read", Name: "disk_read_bytes", Drop: 7},
			{Title: "written", Name: "disk_written_bytes", Drop: 6},
			{Title: "sent", Name: "sent_bytes", Drop: 4},
			{Title: "received", Name: "received_bytes", Drop: 2},
		},
	}
	for _, row := range r.Rows {
		u := row.Usage
		if u == nil {
			continue
		}
		cores := report.Missing()
		busy := u.ServerCPUSeconds
		if busy == nil {
			busy = u.ProcessCPUSeconds
		}
		if busy != nil && row.Seconds != nil && row.Seconds.Median > 0 {
			cores = report.Fixed(*busy/row.Seconds.Median, 2)
		}
		t.Add(report.Str(row.ID), unit.TimeOr(u.ProcessCPUSeconds), unit.TimeOr(u.ServerCPUSeconds), cores, unit.TimeOr(u.ClientCPUSeconds),
			bytesOr(u.ProcessPeakBytes), bytesOr(u.ServerPeakBytes), bytesOr(u.ClientPeakBytes),
			bytesOr(u.DiskReadBytes), bytesOr(u.DiskWrittenBytes), bytesOr(u.SentBytes), bytesOr(u.ReceivedBytes))
	}
	t.Notes = append(t.Notes, "CPU, disk and network are medians, memory is the highest of all runs; cores: CPU time over wall time; sent and received: by mrbench")
	if r.Telemetry != nil {
		t.Notes = append(t.Notes, r.Telemetry.Notes...)
	}
	return t
}

func bytesOr(n *int64) report.Cell {
	if n == nil {
		return report.Missing()
	}
	return report.Bytes(*n)
}
