package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The names of the files of a capture that belong to no single JVM.
const (
	DescriptionFile = "capture.json"
	SamplesFile     = "samples.txt"
	SymbolsFile     = "symbols.txt"
)

// logGlob matches the names that LogFile returns.
const logGlob = "asm-*.log"

// eventGlob matches the names that EventLog and RecordingFile return, and those of older parts of a log.
const eventGlob = "ev-*"

// usdtGlob matches the names that USDTText returns.
const usdtGlob = "usdt-*.log"

// USDTText returns the name of the text of a JVM's USDT probes in a capture: usdt-4711.log.
func USDTText(pid int) string { return fmt.Sprintf("usdt-%d.log", pid) }

// LogFile returns the name of the log of a JVM's code in a capture: asm-4711.log.
func LogFile(pid int) string { return fmt.Sprintf("asm-%d.log", pid) }

// Logs returns the paths of the logs in a folder, in the order of their names. It is an error if the folder can't be
// read.
func Logs(dir string) (paths []string, err error) { return matching(dir, logGlob) }

// matching returns the paths of the files in a folder whose names match a pattern, in the order of their names.
func matching(dir, pattern string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if matches, _ := filepath.Match(pattern, e.Name()); matches { // the pattern is well-formed
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// Reads reports whether a file is the input that a path names or, if the path is a folder, one of the files from which
// the capture in it is read. The file may have another name, as a link has.
func Reads(path, file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return false // the file does not exist
	}
	inputs, _ := Logs(path) // none if it is not a folder
	if len(inputs) == 0 {
		if folders, _ := parts(path); slices.ContainsFunc(folders, func(folder string) bool { return Reads(folder, file) }) {
			return true
		}
	}
	for _, glob := range []string{eventGlob, usdtGlob, probeGlob} {
		more, _ := matching(path, glob)
		inputs = append(inputs, more...)
	}
	inputs = append(inputs, path, filepath.Join(path, DescriptionFile), filepath.Join(path, SamplesFile), filepath.Join(path, SymbolsFile))
	return slices.ContainsFunc(inputs, func(input string) bool {
		in, err := os.Stat(input)
		return err == nil && os.SameFile(in, info)
	})
}
