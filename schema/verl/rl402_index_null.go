package verl

import "github.com/rlprep/rlprep/schema/rule"

var _ = framework.Add(rule.Rule{
	ID: "RL402", Name: "index-null", Cites: []string{"verl@b178a3cd5 rl_dataset.py:353", "verl@b178a3cd5 rl_dataset.py:359", "verl@b178a3cd5 agent_loop.py:456"}, Rows: rule.RL,
	Title: "extra_info.index is null in some rows",
	Doc: `
The default 0 applies only if the field is absent. A null becomes None, so its traces have no sample_index. With
rollout.trace.max_samples_per_step_per_worker set, np.unique fails with TypeError: '<' not supported between instances of 'NoneType' and
'int', which ends the step. If extra_info itself is null, the row is sample 0. The V1 trainer of 0.9 traces nothing (executed on verl
0.9.1).
`,
	Applies: traced("its traces carry no sample_index, or np.unique fails with TypeError"),
	Reads:   reads(extraIndex),
	New:     whenTraced(func(p *rule.Pass) rule.Checker { return &null{Pass: p, path: extraIndex} }),
	Fixes:   []rule.Fix{fillIndex("fills the nulls with numbers that no other row of the split has")},
	Unfixed: "non-integer indexes cannot be renumbered",
	Examples: []rule.Example{
		{Title: "null in one row", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":{"index":null}}
{"extra_info":{"index":2}}`}, Want: []string{"0 1 extra_info.index"}},
		{Title: "extra_info is null", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":null}`}, Want: []string{"0 1 extra_info.index"}},
		{Title: "the older trainer", Files: []string{`{"extra_info":{"index":null}}`}, Target: "verl@0.9-v0", Want: []string{"0 0 extra_info.index"}},
		{Title: "numbers", Files: []string{`{"extra_info":{"index":0}}
{"extra_info":{"index":1}}`}},
		{Title: "texts", Files: []string{`{"extra_info":{"index":"a"}}
{"extra_info":{"index":"b"}}`}},
	},
})
