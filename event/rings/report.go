package rings

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/lines"
)

// A Site is a method whose calls, locks or allocations are probed.
type Site struct {
	ID         int
	Kind       SiteKind
	Class      string // "java.util.HashMap"
	Method     string
	Descriptor string // "(Ljava/lang/Object;)I"
	Window     bool   // its calls are windows
	// First is set only for the kind SDT. The shared object that other tracers see has two sites for each method, and
	// First is the number of the first one.
	First  int
	Static bool   // the method is static; only for the kind SDT
	Probe  string // the probe as the user wrote it
}

// A SiteKind says what is probed at a site.
type SiteKind string

// The kinds of sites.
const (
	Method SiteKind = "method"
	Lock   SiteKind = "lock"
	Alloc  SiteKind = "alloc"
	SDT    SiteKind = "sdt"
)

// Name returns the class and the method, "java.util.HashMap::get".
func (s *Site) Name() string { return s.Class + "::" + s.Method }

// A Refusal is a method that can't be probed.
type Refusal struct{ Probe, Method, Reason string }

// A Miss is a probe for which the agent found nothing to probe.
type Miss struct {
	Probe     string
	ClassSeen bool   // the class exists; unless Idle is true, it does not have the method
	Idle      bool   // the probe is for locks or allocations, but the methods have none
	Near      string // similar names, separated by ", "
}

// A Report is everything in the agent's text.
type Report struct {
	Sites    []Site
	Refused  []Refusal
	Missing  []Miss
	Errors   []string
	Started  bool
	Stopped  bool
	Restored int    // number of classes from which the agent has removed its probes again
	Object   string // file name of the shared object that other tracers see, or ""; the file is next to the report
	Bad      int    // number of lines that could not be read
}

// Upper bounds for what an agent reports. Lines beyond these limits count as bad.
const (
	maxSites = 2048
	maxOther = 1024
	maxLine  = 1 << 20 // a name has 65535 bytes at most
)

// ReadReport reads the agent's text. The name is used in messages only.
func ReadReport(r io.Reader, name string) (*Report, error) {
	rep := new(Report)
	in := lines.NewReader(r, maxLine)
	for in.Scan() {
		if in.TooLong() || !rep.line(strings.Split(string(in.Line()), "\t")) {
			rep.Bad++
		}
	}
	if err := in.Err(); err != nil {
		return rep, fmt.Errorf("reading %s: %w", name, err)
	}
	return rep, nil
}

// places sets First and Static of a site of the kind SDT. The agent's text has both in one field, for example
// "2,static", or just "2" if the method is not static.
func (s *Site) places(options string) bool {
	first, static, found := strings.Cut(options, ",")
	var err error
	s.First, err = strconv.Atoi(first)
	s.Static = static == "static"
	return err == nil && s.First >= 0 && found == s.Static
}

// objectName matches the name of the shared object, without a directory.
var objectName = regexp.MustCompile(`^java-[0-9]{1,10}(\.[0-9]{1,10})?\.so$`)

func (rep *Report) line(f []string) (ok bool) {
	switch {
	case f[0] == "site" && len(f) == 8 && len(rep.Sites) < maxSites:
		id, err := strconv.Atoi(f[1])
		kind := SiteKind(f[2])
		s := Site{ID: id, Kind: kind, Class: f[3], Method: f[4], Descriptor: f[5], Window: f[6] == "window",
			Probe: f[7]}
		if err != nil || id <= 0 || id > maxSites || kind != Method && kind != Lock && kind != Alloc &&
			(kind != SDT || !s.places(f[6])) {
			return false
		}
		rep.Sites = append(rep.Sites, s)
	case f[0] == "object" && len(f) == 2 && objectName.MatchString(f[1]):
		rep.Object = f[1]
	case f[0] == "refused" && len(f) == 4 && len(rep.Refused) < maxOther:
		rep.Refused = append(rep.Refused, Refusal{f[1], f[2], f[3]})
	case f[0] == "missing" && len(f) == 4 && len(rep.Missing) < maxOther:
		rep.Missing = append(rep.Missing, Miss{f[1], f[2] != "unseen", f[2] == "idle", f[3]})
	case f[0] == "error" && len(f) == 2 && len(rep.Errors) < maxOther:
		rep.Errors = append(rep.Errors, f[1])
	case f[0] == "started":
		rep.Started = true
	case f[0] == "stopped" && len(f) == 2:
		rep.Stopped = true
		rep.Restored, _ = strconv.Atoi(f[1]) // a damaged number counts as 0
	default:
		return false
	}
	return true
}
