package javasource

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A nativeFile is the result of searching for a source file of native code. lines is nil if it was not found.
type nativeFile struct {
	lines []string
	asked map[int]bool // the numbers of the lines that were asked for
}

// NativeLines returns all lines of the file from which native code was made. file is the path that its compiler has
// recorded. The sources need not be in the same folders as on the compiler's machine: of the files with the same name,
// NativeLines takes the one whose path has the most folders in common with the parameter file, counted from the end. It
// returns nil if there is no such file, or if several different ones agree equally well.
//
// The path comes from the capture, whose author may be somebody else. So only files below the Finder's roots are read,
// and only those of known languages.
func (f *Finder) NativeLines(file string) []string {
	var lines []string
	for _, line := range f.nativeFile(file).lines {
		lines = append(lines, strings.TrimRight(visible(line), " "))
	}
	return lines
}

// NativeLine returns a line of the file that NativeLines would find.
func (f *Finder) NativeLine(file string, number int) Line {
	if number < 1 {
		return Line{}
	}
	source := f.nativeFile(file)
	source.asked[number] = true
	l := Line{File: path.Base(file), Number: number}
	if number <= len(source.lines) {
		l.Text = clean(source.lines[number-1])
	}
	return l
}

func (f *Finder) nativeFile(file string) *nativeFile {
	file = path.Clean("/" + strings.ReplaceAll(file, `\`, "/"))
	known := f.native[file]
	if known == nil {
		if f.native == nil {
			f.native = map[string]*nativeFile{}
		}
		known = &nativeFile{lines: f.readNative(file), asked: map[int]bool{}}
		f.native[file] = known
	}
	return known
}

// readNative searches all trees for a file, and reads it.
func (f *Finder) readNative(file string) []string {
	base := path.Base(file)
	if !isSource(base) {
		return nil
	}
	var best []byte
	most, several := 0, false
	for _, t := range f.trees {
		named := t.named(base)
		for _, name := range named[:min(len(named), maxAlike)] {
			n := commonEnd(name, file)
			if n < most {
				continue
			}
			text, err := f.left.all(t, name, maxFileSize)
			switch {
			case err != nil:
			case n > most:
				best, most, several = text, n, false
			case !bytes.Equal(text, best):
				several = true
			}
		}
	}
	if best == nil || several {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(best), "\n"), "\n")
}

// commonEnd returns how many elements at the ends of two paths are equal.
func commonEnd(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	slices.Reverse(x)
	slices.Reverse(y)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// missingNative returns how many lines of native code were asked for, how many of them were not found, and why.
func (f *Finder) missingNative() (asked, missing int, cause string) {
	var names []string
	for file, source := range f.native {
		asked += len(source.asked)
		for number := range source.asked {
			if number > len(source.lines) {
				missing++
				names = append(names, path.Base(file))
			}
		}
	}
	if missing > 0 {
		slices.Sort(names)
		cause =
			fmt.Sprintf("%d of %d lines of native code have no source (%s: not in the given roots, several alike, or of another version)",
				missing, asked, firstOfNames(slices.Compact(names)))
	}
	return asked, missing, cause
}
