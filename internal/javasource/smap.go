package javasource

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A smap says which lines of which files the line numbers of a class stand for (JSR 45, "Debugging Support for Other
// Languages"). Kotlin's compiler writes an SMAP into each class that contains code of inline functions. The line
// numbers of such code are beyond the end of the class's own file.
//
//	SMAP
//	Main.kt
//	Kotlin                                        the default stratum
//	*S Kotlin
//	*F
//	+ 1 Main.kt
//	org/acme/MainKt
//	+ 2 _Arrays.kt
//	kotlin/collections/ArraysKt___ArraysKt        the class, where JSR 45 has the path of the file
//	*L
//	1#1,30:1                                      30 lines from line 1 of file 1 on have the numbers 1, 2, 3 …
//	13579#2,4:31                                  4 lines from line 13579 of file 2 on have the numbers 31, 32 …
//	*E
type smap []smapRange // sorted by from

// A smapRange says what the line numbers in [from, to) stand for. The field each is the number of consecutive line
// numbers that stand for the same line.
type smapRange struct {
	from, to, each int
	file           sourceFile
	line           int // the line that from stands for
}

// maxLine is an upper bound for line numbers. Entries with larger numbers are ignored.
const maxLine = 1 << 30

// parseSMAP parses the stratum that the SMAP names as its default. (A stratum has the lines of one source language.)
// parseSMAP ignores damaged entries, and returns nil if the text is not an SMAP.
func parseSMAP(text string) smap {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	if len(lines) < 3 || lines[0] != "SMAP" {
		return nil
	}
	stratum := strings.TrimSpace(lines[2])
	p := smapParser{files: map[int]sourceFile{}}
	inside, section := false, byte(0)
	for lines = lines[3:]; len(lines) > 0; lines = lines[1:] {
		line := lines[0]
		switch {
		case strings.HasPrefix(line, "*S"):
			inside, section = strings.TrimSpace(line[2:]) == stratum, 0
		case len(line) > 1 && line[0] == '*':
			section = line[1]
		case inside && section == 'F':
			if p.fileEntry(line, lines[1:]) {
				lines = lines[1:]
			}
		case inside && section == 'L':
			p.lineEntry(line)
		}
	}
	slices.SortStableFunc(p.ranges, func(a, b smapRange) int { return cmp.Compare(a.from, b.from) })
	return p.ranges
}

type smapParser struct {
	files  map[int]sourceFile
	file   int // number of the file of the previous line entry, for entries that state no file
	ranges smap
}

// fileEntry parses "1 Main.kt", or "+ 1 Main.kt" with the path on the next line. The caller also passes the lines that
// follow. fileEntry reports whether the entry has two lines.
func (p *smapParser) fileEntry(line string, next []string) (two bool) {
	rest, two := strings.CutPrefix(line, "+ ")
	number, name, _ := strings.Cut(strings.TrimSpace(rest), " ")
	id, err := strconv.Atoi(number)
	two = two && len(next) > 0
	if err != nil || name == "" {
		return two
	}
	file := sourceFile{base: path.Base(name), dir: unknownDir}
	if two {
		file.dir = strings.TrimPrefix(path.Dir(next[0]), ".")
	}
	p.files[id] = file
	return two
}

// lineEntry parses a line entry like "13579#2,4:31,1". The five numbers are: the first line in the source file (13579),
// the file (2), the number of lines that the entry is about (4), the line number in the class that stands for the first
// of these lines (31), and how many line numbers in the class stand for each line (1).
func (p *smapParser) lineEntry(line string) {
	in, out, ok := strings.Cut(line, ":")
	in, repeat, _ := strings.Cut(in, ",")
	start, file, hasFile := strings.Cut(in, "#")
	out, each, _ := strings.Cut(out, ",")
	number := func(text string, without int) int {
		if text == "" {
			return without
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxLine {
			ok = false
		}
		return n
	}
	if hasFile {
		p.file = number(file, 0)
	}
	r := smapRange{from: number(out, -1), each: max(number(each, 1), 1), line: number(start, -1)}
	lines := number(repeat, 1)
	var known bool
	r.file, known = p.files[p.file]
	if !ok || !known || r.from < 0 || r.line < 0 || lines > maxLine/r.each {
		return
	}
	r.to = r.from + lines*r.each
	p.ranges = append(p.ranges, r)
}

// find returns the file and the line that a line number in the class stands for. ok is false if the smap does not have
// the line number.
func (m smap) find(number int) (file sourceFile, line int, ok bool) {
	i, exact := slices.BinarySearchFunc(m, number, func(r smapRange, n int) int { return cmp.Compare(r.from, n) })
	if !exact {
		i--
	}
	if i < 0 || number >= m[i].to {
		return sourceFile{}, 0, false
	}
	return m[i].file, m[i].line + (number-m[i].from)/m[i].each, true
}
