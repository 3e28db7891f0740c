package wall

import "fmt"

// A Damage counts the lines of a file that could not be read.
type Damage struct {
	lines int
	first error
}

// Add counts a line.
func (d *Damage) Add(e *SyntaxError) {
	if d.lines++; d.lines == 1 {
		d.first = e
	}
}

// Notes returns the notes about a file that was read to its end: which lines could not be read, or why the reading
// ended early. pid is the JVM's process id. There is no note if gasm was killed while it wrote the file.
func (d *Damage) Notes(r *Reader, pid int) []string {
	switch {
	case r.Err() != nil:
		return []string{fmt.Sprintf("what the threads of JVM %d did could not be read to the end: %v", pid, r.Err())}
	case d.lines == 1:
		return []string{fmt.Sprintf("a line about the threads of JVM %d could not be read: %v", pid, d.first)}
	case d.lines > 1:
		return []string{fmt.Sprintf("%d lines about the threads of JVM %d could not be read, the first: %v", d.lines, pid,
			d.first)}
	}
	return nil
}
