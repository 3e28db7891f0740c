package capture

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OpenAll opens several captures as one. Each path is a capture, or a folder of captures. Each JVM of the result has
// its Host set.
func OpenAll(paths []string) (*Capture, error) {
	if len(paths) == 1 {
		return Open(paths[0])
	}
	var all []string
	var infos []os.FileInfo
	for _, path := range paths {
		found, err := capturesIn(path)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			info, err := os.Stat(one)
			if err != nil {
				return nil, fmt.Errorf("opening the capture: %w", err)
			}
			before := slices.IndexFunc(infos, func(other os.FileInfo) bool { return os.SameFile(info, other) })
			if before >= 0 {
				return nil, fmt.Errorf("%s and %s are the same capture: its samples would count twice", all[before], one)
			}
			all, infos = append(all, one), append(infos, info)
		}
	}
	if len(all) > maxJoined {
		return nil, fmt.Errorf("these are %d captures, but gasm reads at most %d as one", len(all), maxJoined)
	}
	return join(fmt.Sprintf("%d captures", len(all)), all)
}

// capturesIn returns the captures at a path: the path itself if it is a capture, or else the captures below it.
func capturesIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening the capture: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file, but several captures are named, and each of them is a folder", path)
	}
	logs, err := Logs(path)
	if err != nil {
		return nil, fmt.Errorf("opening the capture: %w", err)
	}
	if len(logs) > 0 {
		return []string{path}, nil
	}
	found, err := parts(path)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s is not a capture: it has no %s: %w", path, logGlob, fs.ErrNotExist)
	}
	return found, err
}

// nameHosts sets the Host of each JVM. If the captures are of several hosts, the Host is the name of the host.
// Otherwise, or if the name is unknown, the Host is the capture's path. If the captures are forks of a benchmark, and
// not of several hosts, nameHosts does nothing, because they are compared as forks.
func (c *Capture) nameHosts(paths []string) {
	names := map[string]bool{}
	for i := range c.parts {
		if name := c.parts[i].Host.Name; name != "" {
			names[name] = true
		}
	}
	forks := func(j JVM) bool { return j.Fork > 0 || j.WarmupOf != "" }
	if len(names) < 2 && slices.ContainsFunc(c.JVMs, forks) {
		return
	}
	commands, different := c.parts[0].Command, false
	for i := range c.parts {
		p := &c.parts[i]
		host := filepath.Clean(paths[i])
		if len(names) > 1 {
			host = cmp.Or(p.Host.Name, host)
		}
		end := len(c.JVMs)
		if i+1 < len(c.parts) {
			end = c.parts[i+1].firstJVM
		}
		for k := p.firstJVM; k < end; k++ {
			c.JVMs[k].Host = host
		}
		different = different || !slices.Equal(p.Command, commands)
	}
	if different {
		c.Command = nil
		c.Notes.Add("the captures are of different commands")
	}
	c.noteKeptApart()
}

// noteKeptApart adds a note if a program ran on several JDKs. The profiles of such a program are not merged, because
// each JDK compiles different code.
func (c *Capture) noteKeptApart() {
	versions := map[string][]string{}
	for i := range c.JVMs {
		if j := &c.JVMs[i]; j.Main != "" && !slices.Contains(versions[j.Main], j.Version) {
			versions[j.Main] = append(versions[j.Main], cmp.Or(j.Version, "an unknown JDK"))
		}
	}
	var kept []string
	for main, of := range versions {
		if len(of) > 1 {
			kept = append(kept, fmt.Sprintf("%s (%s)", main, strings.Join(of, ", ")))
		}
	}
	if len(kept) == 0 {
		return
	}
	slices.Sort(kept)
	const most = 5
	if more := len(kept) - most; more > 0 {
		kept = append(kept[:most], fmt.Sprintf("%d more", more))
	}
	c.Notes.Add("not merged, because code of different JDKs differs: " + strings.Join(kept, "; "))
}

// jdk returns the version of the JDK of a trial's first JVM, or "" if it is unknown.
func (p *part) jdk(t *Trial) string {
	for _, w := range t.Windows {
		for i := range p.JVMs {
			if p.JVMs[i].PID == w.PID {
				return p.JVMs[i].Version
			}
		}
	}
	return ""
}
