// Package sample is a few dozen grade-school word problems in the shape of GSM8K, so that rlprep has something to run on
// with no network. They were written for this project and stand under its licence.
package sample

import "embed"

// Files holds train.jsonl (48 rows) and test.jsonl (12 rows), each row with question and answer: the answer is worked out
// with calculator annotations, <<48/2=24>>, and ends in "#### " and the number.
//
//go:embed train.jsonl test.jsonl
var Files embed.FS
