package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/sourcegraph/conc/pool"
)

// FolderCount is a top-level folder's records.
type FolderCount struct {
	Folder  string `json:"folder"`
	Files   int    `json:"files"`
	Records int64  `json:"records"` // broken ones included: counting does not decode
	Bytes   int64  `json:"bytes"`   // of text, after decompression
	Broken  int64  `json:"broken"`  // files whose rest could not be read, of which Config.Bad was told
	Running int64  `json:"running"` // records of this folder and those before it
}

// Count counts the records of each top-level folder. It finds where records
// begin and end, no more. Progress, which may be nil, is told each folder when it is counted, in
// order. A file of which the rest can't be read is a *RecordError, unless Config.Bad takes it.
func Count(ctx context.Context, c Config, progress func(FolderCount)) ([]FolderCount, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	folders, err := c.Folders()
	if err != nil {
		return nil, err
	}
	counts := make([]FolderCount, len(folders))
	finished := make([]bool, len(folders))
	var mu sync.Mutex
	told := 0
	if take := c.Bad; take != nil { // one at a time
		var one sync.Mutex
		c.Bad = func(e *RecordError) error {
			one.Lock()
			defer one.Unlock()
			return take(e)
		}
	}
	p := pool.New().WithMaxGoroutines(runtime.GOMAXPROCS(0)).WithContext(ctx).WithCancelOnError().WithFirstError()
	for i, f := range folders {
		p.Go(func(ctx context.Context) error {
			fc, err := countFolder(ctx, c, f)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			counts[i], finished[i] = fc, true
			for told < len(folders) && finished[told] {
				counts[told].Running = counts[told].Records
				if told > 0 {
					counts[told].Running += counts[told-1].Running
				}
				if progress != nil {
					progress(counts[told])
				}
				told++
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return counts, nil
}

func countFolder(ctx context.Context, c Config, f Folder) (FolderCount, error) {
	r := &Reader{c: c, files: f.Files}
	defer r.Close() // read only
	fc := FolderCount{Folder: f.Name, Files: len(f.Files)}
	var chunk Chunk
	for {
		err := r.Next(ctx, &chunk)
		if err == io.EOF { //nolint:errorlint // bare, by Next's contract
			return fc, nil
		}
		if err != nil {
			return fc, err
		}
		fc.Records += chunk.Records()
		fc.Bytes += int64(len(chunk.Data))
		if chunk.bad != nil {
			if !chunk.bad.Rest {
				fc.Records++
				continue
			}
			if c.Bad == nil {
				return fc, chunk.bad
			}
			if err := c.Bad(chunk.bad); err != nil {
				return fc, err
			}
			fc.Broken++
		}
	}
}

// Range is the folders [From, To), as Config takes them.
type Range struct {
	From    int   `json:"from"`
	To      int   `json:"to"`
	Records int64 `json:"records"`
}

// Plan cuts folders into n ranges side by side, whose largest has as few records
// as can be. It fails when there are fewer folders than ranges.
func Plan(counts []FolderCount, n int) ([]Range, error) {
	if n < 1 {
		return nil, errors.New("source: a plan needs at least one range")
	}
	if len(counts) < n {
		return nil, fmt.Errorf("source: %d ranges are asked for, and folders with records: %d", n, len(counts))
	}
	var total, largest int64
	for _, c := range counts {
		total += c.Records
		largest = max(largest, c.Records)
	}
	// The smallest limit with which n ranges are enough, by halving.
	lo, hi := max(largest, (total+int64(n)-1)/int64(n)), total
	for lo < hi {
		mid := lo + (hi-lo)/2
		if rangesFor(counts, mid) <= n {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	var plan []Range
	rest := total
	for at := 0; at < len(counts); {
		r := Range{From: at, To: at}
		left := n - len(plan) // ranges yet to make, this one included
		for r.To < len(counts)-left+1 {
			next := counts[r.To].Records
			// Stop before the limit, or at the point nearest to an equal share of the rest.
			if share := float64(rest) / float64(left); r.To > at && left > 1 &&
				(r.Records+next > lo || (float64(r.Records)+float64(next)/2 > share && rangesFor(counts[r.To:], lo) <= left-1)) {
				break
			}
			r.Records += next
			r.To++
		}
		rest -= r.Records
		plan = append(plan, r)
		at = r.To
	}
	return plan, nil
}

// rangesFor counts the ranges of at most limit records each.
func rangesFor(counts []FolderCount, limit int64) int {
	n, sum := 1, int64(0)
	for _, c := range counts {
		if sum+c.Records > limit && sum > 0 {
			n++
			sum = 0
		}
		sum += c.Records
	}
	return n
}
