package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The names of the files that exist only once in a capture. Each of the other files belongs to one JVM, and has the
// JVM's process id in its name.
const (
	DescriptionFile = "capture.json"
	SamplesFile     = "samples.txt"
	SymbolsFile     = "symbols.txt"
	NativeCodeFile  = "native-code.txt"
	StacksFile      = "stacks.txt"
)

// logGlob matches the names that LogFile returns.
const logGlob = "asm-*.log"

// eventGlob matches the names that EventLog and RecordingFile return, and the names of a log's older files
// (ev-4711.log.0).
const eventGlob = "ev-*"

// usdtGlob matches the names that USDTText returns.
const usdtGlob = "usdt-*.log"

// USDTText returns the name of the file with the events of a JVM's USDT probes: usdt-4711.log.
func USDTText(pid int) string { return fmt.Sprintf("usdt-%d.log", pid) }

// LogFile returns the name of the file with a JVM's code: asm-4711.log.
func LogFile(pid int) string { return fmt.Sprintf("asm-%d.log", pid) }

// Logs returns the paths of the logs with JVMs' code (asm-*.log) in a folder, in the order of their names. It returns
// an error if the folder can't be read.
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

// Reads reports whether Open(path) or OpenFiles(path, …) would read the given file. The path may be that of the file
// itself, or of a capture or a folder of captures that contains the file. Reads does not compare names but asks the
// file system whether two files are the same, so it also finds links to the file.
func Reads(path, file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return false // the file does not exist
	}
	inputs, _ := Logs(path) // no inputs if path is not a folder
	if len(inputs) == 0 {
		if folders, _ := parts(path); slices.ContainsFunc(folders, func(folder string) bool { return Reads(folder, file) }) {
			return true
		}
	}
	for _, glob := range []string{eventGlob, usdtGlob, probeGlob, wallGlob} {
		more, _ := matching(path, glob)
		inputs = append(inputs, more...)
	}
	inputs = append(inputs, path, filepath.Join(path, DescriptionFile), filepath.Join(path, SamplesFile),
		filepath.Join(path, SymbolsFile), filepath.Join(path, NativeCodeFile), filepath.Join(path, StacksFile),
		filepath.Join(path, partSamples), filepath.Join(path, partStacks))
	return slices.ContainsFunc(inputs, func(input string) bool {
		in, err := os.Stat(input)
		return err == nil && os.SameFile(in, info)
	})
}
