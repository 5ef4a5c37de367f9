package pipeline

import "testing"

func densified(spec string) string { return `[{"$densify": ` + spec + `}, {"$project": {"_id": 0}}]` }

func TestDensify(t *testing.T) {
	overDocs(t, []string{`{"_id": 1, "v": 4, "p": "a"}`, `{"_id": 2, "v": 0, "p": "a", "x": true}`, `{"_id": 3, "v": 1.5, "p": "b"}`, `{"_id": 4, "v": null}`, `{"_id": 5, "p": "b"}`}, []stageCase{
		{
			stages: densified(`{"field": "v", "range": {"step": 1, "bounds": "full"}}`),
			want:   []string{`{"v": null}`, `{"p": "b"}`, `{"v": 0, "p": "a", "x": true}`, `{"v": 1}`, `{"v": 1.5, "p": "b"}`, `{"v": 2}`, `{"v": 3}`, `{"v": 4, "p": "a"}`},
		},
		{
			stages: densified(`{"field": "v", "range": {"step": 2, "bounds": [2, 8]}}`),
			want:   []string{`{"v": null}`, `{"p": "b"}`, `{"v": 0, "p": "a", "x": true}`, `{"v": 1.5, "p": "b"}`, `{"v": 2}`, `{"v": 4, "p": "a"}`, `{"v": 6}`},
		},
		{
			stages: densified(`{"field": "v", "range": {"step": 2, "bounds": [-3, 0]}}`),
			want:   []string{`{"v": null}`, `{"p": "b"}`, `{"v": -3}`, `{"v": -1}`, `{"v": 0, "p": "a", "x": true}`, `{"v": 1.5, "p": "b"}`, `{"v": 4, "p": "a"}`},
		},
		{
			stages: densified(`{"field": "v", "partitionByFields": ["p"], "range": {"step": 2, "bounds": "partition"}}`),
			want:   []string{`{"v": null}`, `{"v": 0, "p": "a", "x": true}`, `{"p": "a", "v": 2}`, `{"v": 4, "p": "a"}`, `{"p": "b"}`, `{"v": 1.5, "p": "b"}`},
		},
		{
			stages: densified(`{"field": "v", "partitionByFields": ["p"], "range": {"step": 2, "bounds": "full"}}`),
			want:   []string{`{"v": null}`, `{"p": "b"}`, `{"v": 0, "p": "a", "x": true}`, `{"p": "b", "v": 0}`, `{"v": 1.5, "p": "b"}`, `{"p": "a", "v": 2}`, `{"v": 4, "p": "a"}`, `{"p": "b", "v": 2}`, `{"p": "b", "v": 4}`},
		},
		{
			stages: densified(`{"field": "n.v", "range": {"step": 5, "bounds": [1, 9]}}`),
			want:   []string{`{"v": 4, "p": "a"}`, `{"v": 0, "p": "a", "x": true}`, `{"v": 1.5, "p": "b"}`, `{"v": null}`, `{"p": "b"}`, `{"n": {"v": 1}}`, `{"n": {"v": 6}}`},
		},
	})
	date := func(s string) string { return `{"$date": "` + s + `T00:00:00Z"}` }
	overDocs(t, []string{`{"_id": 1, "d": ` + date("2020-01-31") + `}`, `{"_id": 2, "d": ` + date("2020-04-01") + `}`}, []stageCase{
		{
			stages: densified(`{"field": "d", "range": {"step": 1, "unit": "month", "bounds": "full"}}`),
			want:   []string{`{"d": ` + date("2020-01-31") + `}`, `{"d": ` + date("2020-02-29") + `}`, `{"d": ` + date("2020-03-29") + `}`, `{"d": ` + date("2020-04-01") + `}`},
		},
		{
			stages: densified(`{"field": "d", "range": {"step": 12, "unit": "hour", "bounds": [` + date("2020-01-30") + `, ` + date("2020-01-31") + `]}}`),
			want:   []string{`{"d": ` + date("2020-01-30") + `}`, `{"d": {"$date": "2020-01-30T12:00:00Z"}}`, `{"d": ` + date("2020-01-31") + `}`, `{"d": ` + date("2020-04-01") + `}`},
		},
		{stages: densified(`{"field": "d", "range": {"step": 1, "bounds": "full"}}`), code: 6053601},
	})
	overDocs(t, []string{`{"_id": 1, "v": 0}`, `{"_id": 2, "v": 600000}`, `{"_id": 3, "v": "s"}`}, []stageCase{
		{stages: densified(`{"field": "v", "range": {"step": 1, "bounds": "full"}}`), code: 5897900},
		{stages: densified(`{"field": "v", "range": {"step": 100000, "bounds": "full"}}`), code: 5733201},
		{stages: densified(`{"field": "v", "range": {"step": 1, "unit": "day", "bounds": "full"}}`), code: 6053600},
	})
}

func TestDensifyErrors(t *testing.T) {
	day := func(s string) string { return `{"$date": "` + s + `T00:00:00Z"}` }
	runCases(t, []stageCase{
		{stages: densified(`1`), code: 9},
		{stages: densified(`{"field": "a", "range": {"step": 1.0}}`), code: 40414},
		{stages: densified(`{"range": {"step": 1.0, "bounds": "full"}}`), code: 40414},
		{stages: densified(`{"field": "a", "range": {"bounds": "full"}}`), code: 40414},
		{stages: densified(`{"field": 1, "range": {"step": 1.0, "bounds": "full"}}`), code: 14},
		{stages: densified(`{"field": "a", "range": {"step": "x", "bounds": "full"}}`), code: 14},
		{stages: densified(`{"field": "a", "partitionByFields": "x", "range": {"step": 1, "bounds": "full"}}`), code: 14},
		{stages: densified(`{"field": "a", "partitionByFields": ["a.b"], "range": {"step": 1, "bounds": "full"}}`), code: 8993000},
		{stages: densified(`{"field": "a.b", "partitionByFields": ["a"], "range": {"step": 1, "bounds": "full"}}`), code: 9554500},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": [1]}}`), code: 5733403},
		{stages: densified(`{"field": "a", "range": {"step": -1, "bounds": [0, 1]}}`), code: 5733401},
		{stages: densified(`{"field": "$a", "range": {"step": 1, "bounds": [0, 1]}}`), code: 16410},
		{stages: densified(`{"field": "a", "partitionByFields": ["$b"], "range": {"step": 1, "bounds": [0, 1]}}`), code: 16410},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": "partition"}}`), code: 5733408},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": "other"}}`), code: 5946802},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": 5}}`), code: 5733404},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": [2, 1]}}`), code: 5733402},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": [1, 2], "unit": "second"}}`), code: 5733409},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": [1, ` + day("2020-01-01") + `]}}`), code: 5733406},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": [1, 2.5]}}`), code: 5876900},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": [` + day("2020-01-01") + `, ` + day("2020-01-02") + `]}}`), code: 5733410},
		{stages: densified(`{"field": "a", "range": {"step": 1.1, "unit": "second", "bounds": [` + day("2020-01-01") + `, ` + day("2020-01-02") + `]}}`), code: 6586400},
		{stages: densified(`{"field": "a", "range": {"step": 1, "bounds": ["a", "b"]}}`), code: 5946800},
	})
}
