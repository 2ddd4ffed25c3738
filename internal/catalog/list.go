package catalog

import (
	"cmp"
	"strings"

	"github.com/rlprep/rlprep/datasets"
	"github.com/rlprep/rlprep/schema/rule"
	"github.com/rlprep/rlprep/transform"
)

// A Listing is one kind of thing that list shows.
type Listing struct {
	Name string
	Rows func() [][]string // a table for people; the first row has the titles of its columns, where it needs them
	JSON func() any        // for scripts: all that explain shows, as objects
}

// Listings are the kinds of things, in the order in which help names them.
var Listings = []Listing{
	{"recipes", recipeRows, func() any { return All(datasets.All(), NewRecipe) }},
	{"transforms", transformRows, func() any { return All(transform.All(), NewTransform) }},
	{"rules", ruleRows, func() any { return All(rule.All(), NewRule) }},
}

func recipeRows() [][]string {
	rows := [][]string{{"NAME", "ROWS", "AGENT", "INDEX", "SPLITS", "RANDOM", "WHAT IT IS"}}
	for _, r := range datasets.All() {
		rows = append(rows, []string{r.Name, r.Rows.String(), cmp.Or(r.Agent, "-"), r.Index, strings.Join(r.Splits, ","), cmp.Or(r.Random, "-"), r.Title})
	}
	return rows
}

func transformRows() (rows [][]string) {
	for _, v := range transform.All() {
		rows = append(rows, []string{v.Name, v.Title})
	}
	return rows
}

func ruleRows() (rows [][]string) {
	for _, r := range rule.All() {
		h, _ := r.Severity(DescribedFor(r))
		rows = append(rows, []string{r.ID, r.Name, h.Level.String(), r.Title})
	}
	return rows
}
