package cli

// flagGroups says which flags of a command belong together in its help; names are separated by spaces. Flags that
// are in no group stand under FLAGS.
var flagGroups = map[string][]struct{ title, names string }{
	"run": {
		{"WHAT IS MEASURED", "jsmode sort no-sort layout threads per-shard ranges strategy ladder rows job"},
		{"HOW IT IS MEASURED", "runs warmup time-budget pause prepare shuffle-seed sample-every stop-balancer"},
		{"WHAT IT MAY COST OTHERS", politeFlags},
		{"THE COLLECTION", "docs create-index"},
		{"SEVERAL MACHINES", "plan take into into-sharded append"},
		{"WHAT IS KEPT", "save keep out-db dry-run verbose"},
	},
	"tune": {
		{"WHAT IS TRIED", "job rows max-threads strategy"},
		{"HOW", "budget shuffle-seed"},
		{"WHAT IT MAY COST OTHERS", politeFlags},
		{"THE COLLECTION", "docs create-index"},
		{"WHAT IS KEPT", "save dry-run verbose"},
	},
	"seed": {
		{"DOCUMENTS MADE BY A GENERATOR", "docs keys seed generator template emit overwrite"},
		{"DOCUMENTS FROM FILES", "from format select columns folders skip-bad on-duplicate resume count-only plan"},
		{"HOW THEY ARE LOADED", "writers batch ordered write-concern retries index drop append verbose dry-run"},
		{"ON A SHARDED CLUSTER", "shard-key presplit stop-balancer"},
		{"WHAT IT MAY COST OTHERS", politeFlags},
		{"A SWEEP", "sweep runs save"},
	},
}
