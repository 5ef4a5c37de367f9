package pipeline

import (
	"mrbench/internal/embedded/query"
)

// openParallel is a $group by several workers, nil when one is as good.
func (s *groupStage) openParallel(*run, *query.Plan, *head, bool) query.Source { return nil }
