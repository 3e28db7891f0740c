package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The names of a capture's files, beside one log for each JVM.
const (
	DescriptionFile = "capture.json"
	SamplesFile     = "samples.txt"
	SymbolsFile     = "symbols.txt"
)

// logGlob matches what LogFile names.
const logGlob = "asm-*.log"

// eventGlob matches what EventLog names, older parts of it, and recordings.
const eventGlob = "ev-*"

// usdtGlob matches what USDTText names.
const usdtGlob = "usdt-*.log"

// USDTText is the name of the text of a JVM's USDT probes in a capture: usdt-4711.log.
func USDTText(pid int) string { return fmt.Sprintf("usdt-%d.log", pid) }

// LogFile is the name of a JVM's log in a capture: asm-4711.log.
func LogFile(pid int) string { return fmt.Sprintf("asm-%d.log", pid) }

// Logs gives the paths of the logs in a folder, in the order of their names. The error is that of a folder which can't be read.
func Logs(dir string) (paths []string, err error) { return matching(dir, logGlob) }

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

// Reads tells whether a file, under whatever name, is the input that a path names, or one
// of the files that a capture in that folder is read from.
func Reads(path, file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return false // there is none
	}
	inputs, _ := Logs(path) // of a folder
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
