package javasource

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// A problem is the reason why a line was not found. Its zero value means that there is no problem: the line was found.
type problem uint8

const (
	found     problem = iota
	noFile            // no file has the class's package and the name of its source file
	ambiguous         // several files are equally likely
	beyond            // the file has fewer lines
	blank             // the line is empty, so it can't be the source of any code
	changed           // the file had a different number of lines when it was compiled
)

// A classLine is a class and a line number in the debug info of its code. The line may belong to another file; see
// smap.
type classLine struct {
	class string
	line  int
}

// A miss is the result of the search for a line, successful or not.
type miss struct {
	problem
	class string
	file  sourceFile
	line  int // the number of the line in the file
	lines int // number of lines of the file that was found
	// compiled is the number of lines that the file had when the class was compiled; 0 if unknown.
	compiled int
	mapped   bool // the class has an smap
	root     string
	paths    []string
}

// maxCauses is the maximum number of causes that are reported. maxNames is the maximum number of files or classes that
// are named for each cause.
const (
	maxCauses = 6
	maxNames  = 3
)

// Missing sums up the calls of Line so far: how many different lines were asked for, how many of them were not found,
// and the most frequent causes. Each cause is a sentence:
//
//	12 of 40 lines have no source: scala.collection.* (scala-library-2.13.14.jar: no file List.scala, Range.scala …)
func (f *Finder) Missing() (asked, missing int, causes []string) {
	groups := map[string][]miss{}
	roots := map[string]string{} // by the directory of a package
	for _, m := range f.asked {
		if m.root != "" {
			roots[m.file.dir] = m.root
		}
	}
	for _, m := range f.asked {
		m.root = cmp.Or(m.root, roots[m.file.dir])
		if m.problem != found {
			missing++
			groups[m.cause()] = append(groups[m.cause()], m)
		}
	}
	asked = len(f.asked)
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	told := 0
	for _, key := range keys[:min(len(keys), maxCauses)] {
		told += len(groups[key])
		causes = append(causes, fmt.Sprintf("%d of %d lines have no source: %s", len(groups[key]), asked,
			sentence(groups[key])))
	}
	if told < missing {
		causes = append(causes, fmt.Sprintf("%d of %d lines have no source, for %d other reasons", missing-told, asked,
			len(keys)-maxCauses))
	}
	nativeAsked, nativeMissing, cause := f.missingNative()
	if asked, missing = asked+nativeAsked, missing+nativeMissing; cause != "" {
		causes = append(causes, cause)
	}
	if f.left == 0 || f.classPath.left == 0 {
		causes = append(causes, fmt.Sprintf("the lines of this report need more than %d MiB of files: "+
			"some files were not read", maxRead>>20))
	}
	return asked, missing, causes
}

// cause returns a key that is the same for all lines that are missing for the same reason. Lines are grouped by this
// key. It is not shown to users.
func (m miss) cause() string {
	origin := m.file.path()
	if m.problem == noFile {
		origin = m.origin()
	}
	return fmt.Sprint(m.problem, " ", origin)
}

// origin returns where the class comes from: "the JDK", or the name of the jar or directory in which the class was
// found. If the class was not found, the result is the directory of its package.
func (m miss) origin() string {
	switch {
	case m.ofJDK():
		return "the JDK"
	case m.root != "":
		return m.root
	}
	return m.file.dir
}

// ofJDK reports whether the file belongs to the JDK.
func (m miss) ofJDK() bool {
	return m.root == "" && (onlyJDK(m.file.dir) || strings.HasPrefix(m.file.dir+"/", "javax/") ||
		strings.HasPrefix(m.file.dir, "com/sun/"))
}

// sentence tells the user why the lines of a group were not found. All lines of a group have the same cause.
func sentence(group []miss) string {
	slices.SortFunc(group, func(a, b miss) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.line, b.line))
	})
	m := group[0]
	switch m.problem {
	case noFile:
		names := firstOf(group, func(m miss) string { return m.file.base })
		origin, mend := "", "in the given roots"
		switch {
		case m.ofJDK():
			origin, mend = "the JDK: ", "in the given roots; --source with the JDK's lib/src.zip has them"
		case m.root != "":
			origin = m.root + ": "
		}
		return fmt.Sprintf("%s (%sno file %s %s)", packages(group), origin, names, mend)
	case ambiguous:
		return fmt.Sprintf("%s (%s and %s are equally likely: name the root of one of them)", classes(group),
			m.paths[0], m.paths[1])
	case beyond:
		why := "it is another version"
		if !m.mapped && path.Ext(m.file.base) == ".kt" {
			why = "it is code of an inline function whose class file, which says where the function is, " +
				"is not on the class path; or it is another version"
		}
		return fmt.Sprintf("%s (line %d is beyond the end of %s, which has %d: %s)", classes(group), m.line,
			m.file.base, m.lines, why)
	case changed:
		return fmt.Sprintf("%s (%s has %d lines, and had %d when it was compiled: it is another version)",
			classes(group), m.file.base, m.lines, m.compiled)
	default:
		return fmt.Sprintf("%s (line %d of %s is empty: it is another version)", classes(group), m.line, m.file.base)
	}
}

func classes(group []miss) string { return firstOf(group, func(m miss) string { return m.class }) }

// firstOf returns a list of the different names of a group of misses, sorted, with at most maxNames names: "A, B, C,
// and 2 more".
func firstOf(group []miss, name func(m miss) string) string {
	var names []string
	for _, m := range group {
		names = append(names, name(m))
	}
	slices.Sort(names)
	return firstOfNames(slices.Compact(names))
}

// firstOfNames lists at most maxNames of the names, and says how many more there are.
func firstOfNames(names []string) string {
	if len(names) > maxNames {
		names = append(names[:maxNames:maxNames], fmt.Sprintf("and %d more", len(names)-maxNames))
	}
	return strings.Join(names, ", ")
}

// packages returns the innermost package that contains all files of a group of misses: "scala.collection.*". If there
// is no such package, it returns the top-level packages: "java.*, jdk.*".
func packages(group []miss) string {
	common := strings.Split(group[0].file.dir, "/")
	for _, m := range group[1:] {
		elements := strings.Split(m.file.dir, "/")
		n := 0
		for n < min(len(common), len(elements)) && common[n] == elements[n] {
			n++
		}
		common = common[:n]
	}
	if name := strings.Join(common, "."); name != "" {
		return name + ".*"
	}
	return firstOf(group, func(m miss) string {
		if m.file.dir == "" {
			return m.class
		}
		top, _, _ := strings.Cut(m.file.dir, "/")
		return top + ".*"
	})
}
