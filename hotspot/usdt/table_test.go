package usdt

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/jdk"
)

// older are the names of probes in older lists (those of Oracle's pages on DTrace for JDK 6, and
// SystemTap's tapset hotspot.stp).
var older = map[string]string{
	"hotspot:class__loaded":   "class__load",
	"hotspot:class__unloaded": "class__unload",
	"hotspot:method__return":  "method__exit",
}

const tableFile = "../../docs/usdt-probes.md"

// A column of the table is a JDK.
type column struct {
	feature int
	version string
	places  map[string]int
}

// columns returns the probes of this machine's JDKs.
func columns(t *testing.T) (all []column) {
	for _, j := range gasmtest.NeedEachJDK(t, probed) {
		properties := jdk.Properties(j.Home)
		c := column{feature: j.Feature, version: strings.TrimSpace(properties["JAVA_VERSION"] + " " +
			properties["IMPLEMENTOR"]), places: map[string]int{}}
		for _, p := range probesOf(t, j) {
			c.places[p.FullName()]++
		}
		all = append(all, c)
	}
	return all
}

// tableArguments returns the names of a probe's arguments as the page shows them.
func tableArguments(name string) string {
	words := []string{}
	for _, p := range usdt.Parameters(name) {
		words = append(words, p.Name)
	}
	return strings.Join(words, ", ")
}

// table returns the text of the page.
func table(all []column) string {
	var b strings.Builder
	b.WriteString("# HotSpot's USDT probes\n\nWritten by `go test ./hotspot/usdt -run TestTable -update` from the notes in libjvm.so of the JDKs for x86-64 Linux\n" +
		"that `scripts/setup.sh test` installs. A number is in how many places of the library the probe is, which differs from build to\nbuild; `-` says that a JDK does not have it. " +
		"Oracle's own builds have no probes, nor has Debian's JDK 8. None has a semaphore.\n\n`gasm profile --events usdt:hotspot:thread__park__begin` records one of them.\n\n")
	for _, c := range all {
		fmt.Fprintf(&b, "* JDK %d is %s: %d places.\n", c.feature, c.version, sum(c.places))
	}
	b.WriteString("\n## hotspot and hs_private\n\nA class, a method, a signature and a name are text: two arguments, an address and a length. Where an option is named, the\nprobe is reached only in JVMs that were " +
		"started with it; `gasm profile` adds it, `gasm attach` can't.\n\n| probe | arguments | option |")
	line := "\n|---|---|---|"
	for _, c := range all {
		fmt.Fprintf(&b, " %d |", c.feature)
		line += "---|"
	}
	b.WriteString(line + "\n")
	names, jni := map[string]bool{}, map[string]bool{}
	for _, c := range all {
		for name := range c.places {
			switch {
			case strings.HasPrefix(name, usdt.JNIProvider+":"):
				jni[strings.TrimPrefix(name, usdt.JNIProvider+":")] = true
			case strings.HasPrefix(name, usdt.Provider+":"), strings.HasPrefix(name, usdt.PrivateProvider+":"):
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		provider, probe, _ := strings.Cut(name, ":")
		shown := "`" + name + "`"
		if had := older[name]; had != "" {
			shown += " (in older lists `" + had + "`)"
		}
		flag := (&Probe{Provider: provider, Name: probe}).Flag()
		fmt.Fprintf(&b, "| %s | %s | %s |%s\n", shown, tableArguments(name), strings.TrimPrefix(flag, "-XX:+"),
			cells(all, name))
	}
	b.WriteString("\nOlder lists also have `hashtable__new_entry`, which none of these JDKs has. Since JDK 9 `safepoint__begin` and `safepoint__end` have no arguments.\n\n" +
		"## hotspot_jni\n\nEach function of JNI has a probe `NAME__entry`, with the function's arguments (without those after `...`), and one\n`NAME__return`, with what it returns. `gasm profile --events jni` records all.\n\n")
	b.WriteString(jniTable(all, jni))
	return b.String()
}

// jniTable returns a list of the functions that all JDKs have, and a table of the others.
func jniTable(all []column, jni map[string]bool) string {
	var everywhere, others []string
	var b strings.Builder
	for _, probe := range slices.Sorted(maps.Keys(jni)) {
		name := usdt.JNIProvider + ":" + probe
		if !slices.ContainsFunc(all, func(c column) bool { return c.places[name] == 0 }) {
			everywhere = append(everywhere, "`"+probe+"`")
			continue
		}
		others = append(others, fmt.Sprintf("| `%s` |%s\n", name, cells(all, name)))
	}
	fmt.Fprintf(&b, "%d probes are in all of these JDKs:\n\n%s.\n", len(everywhere), strings.Join(everywhere, ",\n"))
	if len(others) == 0 {
		return b.String()
	}
	b.WriteString("\nThe others:\n\n| probe |")
	line := "\n|---|"
	for _, c := range all {
		fmt.Fprintf(&b, " %d |", c.feature)
		line += "---|"
	}
	b.WriteString(line + "\n" + strings.Join(others, ""))
	return b.String()
}

func cells(all []column, name string) (row string) {
	for _, c := range all {
		if n := c.places[name]; n > 0 {
			row += fmt.Sprintf(" %d |", n)
		} else {
			row += " - |"
		}
	}
	return row
}

func sum(places map[string]int) (n int) {
	for name, places := range places {
		if strings.HasPrefix(name, usdt.Provider) || strings.HasPrefix(name, usdt.PrivateProvider) {
			n += places
		}
	}
	return n
}

// TestTable checks that the page on all probes says what the libraries have. The number of a probe's places, and the
// versions, are those of the builds that the page was written from. In other builds the numbers differ, because other
// compilers inline differently. So the test only compares which JDK has which probe.
func TestTable(t *testing.T) {
	all := columns(t)
	got := table(all)
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(tableFile, []byte(got), 0o644))
	}
	want, err := os.ReadFile(tableFile)
	require.NoError(t, err)
	if heads := regexp.MustCompile(`(?m)^\| probe \|.*$`); heads.FindString(string(want)) != heads.FindString(got) {
		t.Skipf("docs/usdt-probes.md is of other JDKs than this machine has: scripts/setup.sh test installs those of the page")
	}
	assert.Equal(t, anyBuild(string(want)), anyBuild(got), "run go test ./hotspot/usdt -run TestTable -update")
	for _, name := range usdt.Known() {
		assert.Contains(t, got, "`"+name+"`", "a probe that no JDK has")
	}
}

// anyBuild leaves out what differs between builds of a JDK.
func anyBuild(text string) string {
	text = regexp.MustCompile(`(?m)^\* JDK .*\n`).ReplaceAllString(text, "")
	return regexp.MustCompile(` [1-9]\d* \|`).ReplaceAllString(text, " n |")
}
