package windows

import (
	"archive/zip"
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// These names show that a command runs JMH. JMH's main classes are org.openjdk.jmh.Main, and
// org.openjdk.jmh.runner.ForkedMain in a fork. JMH's annotation processor puts a list of benchmarks into each jar.
const (
	jmhPackage    = "org.openjdk.jmh."
	benchmarkList = "META-INF/BenchmarkList"
	manifest      = "META-INF/MANIFEST.MF"
)

// maxManifest is the maximum number of bytes of a manifest that are read.
const maxManifest = 1 << 20

// RunsJMH reports whether the words of a command show that it runs JMH: by one of JMH's main classes, or by -jar and a
// jar with benchmarks. It also looks at the words of a command that is passed to a shell (sh -c). It does not find out
// what a script or a build tool runs.
func RunsJMH(command []string) bool {
	var words []string
	for _, w := range command {
		words = append(words, strings.Fields(w)...) // sh -c "java -jar benchmarks.jar"
	}
	for i, w := range words {
		if w == "-jar" && i+1 < len(words) && isJMHJar(words[i+1]) {
			return true
		}
		if strings.HasPrefix(w, jmhPackage) && strings.HasSuffix(w, "Main") {
			return true
		}
	}
	// The path after -jar may contain blanks.
	i := slices.Index(command, "-jar")
	return i >= 0 && i+1 < len(command) && strings.Contains(command[i+1], " ") && isJMHJar(command[i+1])
}

// isJMHJar reports whether a file is a jar that has benchmarks, or whose main class is one of JMH's.
func isJMHJar(path string) bool {
	file, size, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	jar, err := zip.NewReader(file, size)
	if err != nil {
		return false
	}
	for _, f := range jar.File {
		if f.Name == benchmarkList || f.Name == manifest && hasJMHMain(f) {
			return true
		}
	}
	return false
}

// hasJMHMain reports whether a manifest names one of JMH's main classes.
func hasJMHMain(f *zip.File) bool {
	text, err := f.Open()
	if err != nil {
		return false
	}
	defer text.Close()
	lines := bufio.NewScanner(io.LimitReader(text, maxManifest))
	for lines.Scan() {
		if class, ok := strings.CutPrefix(lines.Text(), "Main-Class:"); ok {
			return strings.HasPrefix(strings.TrimSpace(class), jmhPackage)
		}
	}
	return false
}
