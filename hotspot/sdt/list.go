package sdt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A list is what the agent says of the methods whose calls are probes, in a file that it appends to. A line has the first
// of the method's two sites, and the method:
//
//	2	org/acme/Svc	tiny	(ILjava/lang/String;)J
//	4	org/acme/Svc	main	([Ljava/lang/String;)V	static
//
// The JVM can write what it likes: a line that says nothing is counted and left out, and so are all behind the first
// maxList bytes.

// maxList is more than the lines of all sites have: two names and a descriptor of a class file have up to 64 kB each,
// and most have less than 100 bytes.
const maxList = 4 << 20

// parseLine reads a line of a list.
func parseLine(line string) (site int, m Method, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) < 4 || len(fields) > 5 || len(fields) == 5 && fields[4] != "static" && fields[4] != "" {
		return 0, Method{}, errors.New("it has not the fields of a method")
	}
	site, err = strconv.Atoi(fields[0])
	if err != nil || site < 0 || site+1 >= Sites || site%2 != 0 {
		return 0, Method{}, fmt.Errorf("%q is no number of a site", fields[0])
	}
	m = Method{Class: fields[1], Name: fields[2], Descriptor: fields[3], Static: len(fields) == 5 && fields[4] == "static"}
	if m.Class == "" || m.Name == "" {
		return 0, Method{}, errors.New("it names no method")
	}
	return site, m, nil
}

// A Published is an object that a JVM has loaded, and the list that its agent writes. It is for one goroutine.
type Published struct {
	file    *File
	path    string
	list    string
	read    int    // bytes of the list
	rest    string // of a line without its end
	taken   [Sites]bool
	probes  []Probe
	Methods []Method // in the order of the list
	Bad     int      // lines that said nothing
}

// NewPublished opens the object that a JVM has loaded, and whose methods its agent lists.
func NewPublished(object, list string, m *Machine) (*Published, error) {
	f, err := Open(object, m)
	if err != nil {
		return nil, err
	}
	return &Published{file: f, path: object, list: list}, nil
}

// Update reads what the agent has added to the list, and has the object show it. It tells whether there was something.
func (p *Published) Update() (more bool, err error) {
	info, err := os.Lstat(p.list)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == int64(p.read) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the list of probed methods: %w", err)
	}
	added, err := readFrom(p.list, p.read)
	if err != nil {
		return false, fmt.Errorf("reading the list of probed methods: %w", err)
	}
	p.read += len(added)
	before := len(p.probes)
	p.add(p.rest + string(added))
	if len(p.probes) == before {
		return false, nil
	}
	if err := p.file.Publish(p.probes); err != nil {
		return false, fmt.Errorf("publishing %d probes in %s: %w", len(p.probes), p.path, err)
	}
	return true, nil
}

// add takes lines. The last one may have no end yet.
func (p *Published) add(text string) {
	p.rest = ""
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if !ended {
			p.rest = line
			return
		}
		site, m, err := parseLine(line)
		if err == nil && p.taken[site] {
			err = errors.New("its site has another method")
		}
		var entry, ret Probe
		if err == nil {
			entry, ret, err = m.Probes(site)
		}
		if err != nil {
			p.Bad++
			continue
		}
		p.taken[site] = true
		p.probes = append(p.probes, entry, ret)
		p.Methods = append(p.Methods, m)
	}
}

// readFrom reads a regular file from an offset on, but not behind maxList. No other user's link is followed.
func readFrom(path string, offset int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is no regular file", path))
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.NewSectionReader(f, int64(offset), int64(max(0, maxList-offset))))
	return b.Bytes(), err
}

// Remove ends it: no tracer finds the probes any more. The JVM has the object mapped and runs on.
func (p *Published) Remove() error {
	errs := []error{p.file.Close()}
	for _, path := range []string{p.path, p.list} {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
