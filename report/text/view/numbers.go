package view

import "fmt"

// Seconds formats a time in seconds: "1.24 s".
func Seconds(nanos int64) string { return fmt.Sprintf("%.2f s", float64(nanos)/1e9) }

// TableMillis formats a time as a number of ms in a table. It returns "-" for 0, which means unknown.
func TableMillis(nanos int64) string {
	if nanos == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(nanos)/1e6)
}

// Megabytes formats a number of bytes as a number of MB.
func Megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// First returns the first n elements of a list, or all if n is 0.
func First[T any](list []T, n int) []T {
	if n == 0 {
		return list
	}
	return list[:min(len(list), n)]
}
