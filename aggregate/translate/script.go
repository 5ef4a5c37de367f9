package translate

import (
	"mrbench/mr/jobfile"
)

func withScript(j *jobfile.Job, why *Refusal) (*Result, error) {
	return nil, why
}
