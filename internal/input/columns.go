package input

import (
	"fmt"

	"github.com/rlprep/rlprep/internal/amount"
	"github.com/rlprep/rlprep/internal/misuse"
	"github.com/rlprep/rlprep/internal/source"
	"github.com/rlprep/rlprep/schema"
	"github.com/rlprep/rlprep/transform"
)

// HasColumns sees that the first row of each line file has every declared column: a key that is missing reads as null, and
// would else be found out row by row. The error is a *misuse.Error.
func HasColumns(set *source.Set) error {
	for _, f := range set.Files() {
		if f.Format == "parquet" || f.Rows == 0 {
			continue
		}
		seen := &schema.Schema{}
		for _, k := range f.Keys {
			seen.Fields = append(seen.Fields, schema.NewField(k, schema.StringType))
		}
		for _, c := range f.Schema.Fields {
			if _, i := seen.Column(c.Name); i < 0 {
				return misuse.Errorf("%s: %v", f.Name, transform.NoColumn(schema.Path("").Field(c.Name), seen))
			}
		}
	}
	return nil
}

// maxUnknownKeys is how many keys UnknownKeyTexts names.
const maxUnknownKeys = 10

// UnknownKeyTexts returns a sentence for each of the first keys of JSON Lines that no column has, as far as rows were read, and one for how many
// follow. A misspelt key is a column of nulls.
func UnknownKeyTexts(set *source.Set) (texts []string) {
	keys := set.UnknownKeys()
	for i, k := range keys {
		if i == maxUnknownKeys {
			return append(texts, fmt.Sprintf("… %s without a column", amount.Of(len(keys)-i, "more key")))
		}
		nearest := ""
		if k.Nearest != "" {
			nearest = fmt.Sprintf("; nearest column %q", k.Nearest)
		}
		where := k.Pos
		where.Path = ""
		texts = append(texts, fmt.Sprintf("%s: key %q has no column and is not read%s", where, k.Pos.Path, nearest))
	}
	return texts
}
