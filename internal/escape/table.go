package escape

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table writes rows in aligned columns, each cell as Text does.
func Table(out io.Writer, rows [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = Text(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}
