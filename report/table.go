package report

// cellPadding is what layout.Table puts around the cells of one column: a blank on either side.
const cellPadding = 2

// transpose turns columns, all of the same length, into rows.
func transpose(columns [][]string) [][]string {
	var rows [][]string
	for i := range columns[0] {
		var row []string
		for _, c := range columns {
			row = append(row, c[i])
		}
		rows = append(rows, row)
	}
	return rows
}
