package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A jdk is a JDK to measure with.
type jdk struct {
	home  string
	name  string // "JDK 25.0.3+9-LTS"
	major int
}

func (j jdk) tool(name string) string { return filepath.Join(j.home, "bin", name) }

// label is a short name.
func (j jdk) label() string { return fmt.Sprintf("JDK %d", j.major) }

// findJDKs returns the JDKs of a list of homes, each of which must be one, or
// those that are on this machine.
func findJDKs(list string) ([]jdk, error) {
	var homes []string
	if list != "" {
		homes = strings.Split(list, ",")
	} else {
		homes = homesHere()
	}
	var found []jdk
	for _, home := range homes {
		j, err := newJDK(home)
		if err != nil && list != "" {
			return nil, fmt.Errorf("-java: %w", err)
		}
		if err == nil && !slices.ContainsFunc(found, func(f jdk) bool { return f.home == j.home }) {
			found = append(found, j)
		}
	}
	slices.SortStableFunc(found, func(a, b jdk) int { return a.major - b.major })
	return found, nil
}

// homesHere are the folders that may be a JDK.
func homesHere() []string {
	homes := []string{os.Getenv("JAVA_HOME")}
	if java, err := exec.LookPath("java"); err == nil {
		if java, err = filepath.EvalSymlinks(java); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(java)))
		}
	}
	installed, _ := filepath.Glob("/usr/lib/jvm/*") // the pattern is right
	return slices.DeleteFunc(append(homes, installed...), func(home string) bool { return home == "" })
}

var runtimeVersion = regexp.MustCompile(`(?m)^JAVA_(?:RUNTIME_)?VERSION="(?:1\.)?((\d+)[^"]*)"`)

// newJDK reads what a JDK says of itself.
func newJDK(home string) (jdk, error) {
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		return jdk{}, err
	}
	for _, tool := range []string{"java", "javac"} {
		if _, err := os.Stat(filepath.Join(home, "bin", tool)); err != nil {
			return jdk{}, fmt.Errorf("%s is no JDK: %w", home, err)
		}
	}
	release, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return jdk{}, err
	}
	version := runtimeVersion.FindSubmatch(release)
	if version == nil {
		return jdk{}, fmt.Errorf("%s/release names no version", home)
	}
	major, err := strconv.Atoi(string(version[2]))
	if err != nil {
		return jdk{}, fmt.Errorf("%s/release: %w", home, err)
	}
	return jdk{home: home, name: "JDK " + string(version[1]), major: major}, nil
}

// needJDK fails where there is none.
func (s *setup) needJDK() error {
	if len(s.jdks) == 0 {
		return missing("no JDK found (-java HOME)")
	}
	return nil
}
