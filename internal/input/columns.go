package input

import (
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
