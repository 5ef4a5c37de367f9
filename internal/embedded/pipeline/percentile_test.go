package pipeline

import "testing"

func TestPercentile(t *testing.T) {
	overDocs(t, []string{`{"_id": 1, "g": 1, "v": 5}`, `{"_id": 2, "g": 1, "v": 1.5}`, `{"_id": 3, "g": 1, "v": {"$numberLong": "3"}}`, `{"_id": 4, "g": 1, "v": "s"}`, `{"_id": 5, "g": 2}`, `{"_id": 6, "g": 1, "v": 4}`}, []stageCase{
		{
			stages: `[{"$group": {"_id": "$g", "m": {"$median": {"input": "$v", "method": "approximate"}}, "p": {"$percentile": {"input": "$v", "p": [0, 0.25, 0.26, 0.9, 1], "method": "approximate"}}}}, {"$sort": {"_id": 1}}]`,
			want:   []string{`{"_id": 1, "m": 3.0, "p": [1.5, 1.5, 3.0, 5.0, 5.0]}`, `{"_id": 2, "m": null, "p": [null, null, null, null, null]}`},
		},
		{
			stages: `[{"$match": {"_id": 1}}, {"$project": {"m": {"$median": {"input": [3, "$v", "x", 1], "method": "approximate"}}, "p": {"$percentile": {"input": "$v", "p": [0.1, 0.9], "method": "approximate"}}, "n": {"$median": {"input": "$none", "method": "approximate"}}}}]`,
			want:   []string{`{"_id": 1, "m": 3.0, "p": [5.0, 5.0], "n": null}`},
		},
		{stages: `[{"$group": {"_id": 1, "m": {"$median": "$v"}}}]`, code: 7436100},
		{stages: `[{"$group": {"_id": 1, "m": {"$percentile": "$v"}}}]`, code: 7429703},
		{stages: `[{"$group": {"_id": 1, "m": {"$percentile": {"input": "$v", "method": "approximate"}}}}]`, code: 40414},
		{stages: `[{"$group": {"_id": 1, "m": {"$median": {"input": "$v", "p": [1], "method": "approximate"}}}}]`, code: 40415},
		{stages: `[{"$group": {"_id": 1, "m": {"$percentile": {"input": "$v", "p": [0.5], "method": "exact"}}}}]`, code: 2},
		{stages: `[{"$group": {"_id": 1, "m": {"$percentile": {"input": "$v", "p": "$v", "method": "approximate"}}}}]`, code: 7750300},
		{stages: `[{"$group": {"_id": 1, "m": {"$percentile": {"input": "$v", "p": [], "method": "approximate"}}}}]`, code: 7750301},
		{stages: `[{"$group": {"_id": 1, "m": {"$percentile": {"input": "$v", "p": ["x"], "method": "approximate"}}}}]`, code: 7750302},
		{stages: `[{"$group": {"_id": 1, "m": {"$percentile": {"input": "$v", "p": [1.5], "method": "approximate"}}}}]`, code: 7750303},
		{stages: `[{"$project": {"m": {"$percentile": 1}}}]`, code: 7436200},
	})
}
