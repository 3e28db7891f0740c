package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/jdk"
)

// An installedJDK is a JDK to measure with.
type installedJDK struct {
	home    string // without symbolic links
	version string // "25.0.3+9-LTS"
	feature int    // the feature release: 25
}

// tool returns the path of one of the JDK's programs.
func (j installedJDK) tool(name string) string { return filepath.Join(j.home, "bin", name) }

// label returns the JDK's name in the table: "JDK 25".
func (j installedJDK) label() string { return fmt.Sprintf("JDK %d", j.feature) }

// findJDKs returns the JDKs in a comma-separated list of homes, sorted by feature release. If the list is empty, it
// returns the JDKs of this machine. It returns an error if a home in the list is not a JDK.
func findJDKs(list string) ([]installedJDK, error) {
	var homes []string
	if list != "" {
		homes = strings.Split(list, ",")
	} else {
		homes = homesHere()
	}
	var found []installedJDK
	for _, home := range homes {
		j, err := openJDK(home, list == "")
		if err != nil && list != "" {
			return nil, fmt.Errorf("-java: %w", err)
		}
		if err == nil && !slices.ContainsFunc(found, func(f installedJDK) bool { return f.home == j.home }) {
			found = append(found, j)
		}
	}
	slices.SortStableFunc(found, func(a, b installedJDK) int { return a.feature - b.feature })
	return found, nil
}

// homesHere returns the directories of this machine that may be the home of a JDK.
func homesHere() []string {
	homes := []string{os.Getenv("JAVA_HOME")}
	if java, err := exec.LookPath("java"); err == nil {
		if java, err = filepath.EvalSymlinks(java); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(java)))
		}
	}
	installed, _ := filepath.Glob("/usr/lib/jvm/*") // the pattern is valid
	return slices.DeleteFunc(append(homes, installed...), func(home string) bool { return home == "" })
}

// openJDK returns the JDK whose home is the given directory. It reads the version from the JDK's release file. It
// returns an error if the directory has no java or, if whole is true, no javac, as in a JRE.
func openJDK(home string, whole bool) (installedJDK, error) {
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		return installedJDK{}, err
	}
	j := installedJDK{home: home}
	for _, tool := range []string{"java", "javac"} {
		if _, err := os.Stat(j.tool(tool)); err != nil && (whole || tool == "java") {
			return installedJDK{}, fmt.Errorf("%s is not a JDK: %w", home, err)
		}
	}
	release := jdk.Properties(home)
	j.version = cmp.Or(release["JAVA_RUNTIME_VERSION"], release["JAVA_VERSION"])
	if j.feature = jdk.Feature(j.version); j.feature == 0 {
		return installedJDK{}, fmt.Errorf("%s/release names no version", home)
	}
	return j, nil
}

// needJDK returns an error if there is no JDK to measure with.
func (s *setup) needJDK() error {
	if len(s.jdks) == 0 {
		return missing("no JDK was found; -java HOME names one")
	}
	return nil
}
