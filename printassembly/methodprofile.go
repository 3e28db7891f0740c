package printassembly

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// When C2 compiles a method, it uses the counts that HotSpot made while the method ran in the interpreter and in C1's
// code (package methoddata). When gasm copies a method, it reads these counts from the JVM's memory, for the method and
// for the methods inlined into it, and writes them after the copy. A profile has a number, and lines for the bytecodes
// that have counts. A profile that is the same as an earlier one is not written again. Code is named by its compile id,
// and osr='1' if it is an on-stack replacement:
//
//	<method_profile id='7' method='Shapes::sum' class_check='2' unstable_if='1'/>
//	<profile_call bci='17' line='12' bytecode='invokevirtual' others='378' class1='Circle' count1='947' class2='Square' count2='568'/>
//	<profile_branch bci='9' line='11' bytecode='ifne' taken='2810' not_taken='312'/>
//	<profile_type bci='4' line='11' bytecode='instanceof' null_seen='1' failed='20' class1='Circle' count1='947'/>
//	<profiles compile_id='42' ids='7 3 9'/>
//	<profiles compile_id='42' osr='1' ids='8'/>
var (
	profileTag       = []byte("<method_profile ")
	profileCallTag   = []byte("<profile_call ")
	profileBranchTag = []byte("<profile_branch ")
	profileTypeTag   = []byte("<profile_type ")
	profilesTag      = []byte("<profiles ")
)

// A MethodProfile has HotSpot's counts in one method. They were read when the method's code, or the code of a method
// into which it is inlined, was copied.
type MethodProfile struct {
	Method string // "pkg.Class::method"
	Sites  []ProfileSite
	Traps  []Trap
}

// A Trap counts the deoptimizations at a method's bytecodes for one reason.
type Trap struct {
	Reason string // "class_check"
	Count  int    // number of deoptimizations; 255 means 255 or more
}

// A ProfileSite has HotSpot's counts at one bytecode.
type ProfileSite struct {
	BCI, Line int    // place of the bytecode; Line is 0 if it is unknown
	Bytecode  string // "invokevirtual", "ifne", "instanceof"

	Taken, NotTaken int64 // how often a conditional branch was taken and not taken

	// Types are the classes of receivers or of checked objects, the most frequent one first. Others counts the calls
	// with receivers of other classes. More is true at a type check that may also have had objects of other classes,
	// which HotSpot does not count. Failed counts checks that failed.
	Types          []ProfileType
	Others, Failed int64
	More           bool
	NullSeen       bool // null was checked
}

// A ProfileType is a class with how often it occurred.
type ProfileType struct {
	Class string // "pkg.Class"
	Count int64
}

// IsCall reports whether the site is a call.
func (s *ProfileSite) IsCall() bool { return strings.HasPrefix(s.Bytecode, "invoke") }

// IsBranch reports whether the site is a conditional branch.
func (s *ProfileSite) IsBranch() bool { return strings.HasPrefix(s.Bytecode, "if") }

// AppendMethodProfile appends the lines of a profile to text. No other profile of the log may have the same number.
func AppendMethodProfile(text []byte, id int, p *MethodProfile) []byte {
	const usual = 128 // bytes of a line
	text = slices.Grow(text, usual*(1+len(p.Sites)))
	text = strconv.AppendInt(append(append(text, profileTag...), "id='"...), int64(id), 10)
	text = append(append(append(text, "' method='"...), Escape(p.Method)...), '\'')
	for _, t := range p.Traps {
		text = appendNumber(text, t.Reason, int64(t.Count))
	}
	text = append(text, "/>\n"...)
	for i := range p.Sites {
		text = append(appendProfileSite(text, &p.Sites[i]), "/>\n"...)
	}
	return text
}

// appendNumber appends an attribute with a number: name='7'.
func appendNumber(text []byte, name string, n int64) []byte {
	text = append(append(append(text, ' '), name...), "='"...)
	return append(strconv.AppendInt(text, n, 10), '\'')
}

func appendProfileSite(text []byte, s *ProfileSite) []byte {
	tag := profileTypeTag
	switch {
	case s.IsBranch():
		tag = profileBranchTag
	case s.IsCall():
		tag = profileCallTag
	}
	text = appendNumber(append(text, tag[:len(tag)-1]...), "bci", int64(s.BCI))
	text = appendNumber(text, "line", int64(s.Line))
	text = append(append(append(text, " bytecode='"...), s.Bytecode...), '\'')
	if s.IsBranch() {
		return appendNumber(appendNumber(text, "taken", s.Taken), "not_taken", s.NotTaken)
	}
	for _, more := range []struct {
		name  string
		value int64
	}{{"others", s.Others}, {"failed", s.Failed}, {"more", flag(s.More)}, {"null_seen", flag(s.NullSeen)}} {
		if more.value != 0 {
			text = appendNumber(text, more.name, more.value)
		}
	}
	for i, t := range s.Types {
		number := strconv.Itoa(i + 1)
		text = append(append(append(append(text, " class"...), number...), "='"...), Escape(t.Class)...)
		text = appendNumber(append(text, '\''), "count"+number, t.Count)
	}
	return text
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// AppendProfiles appends a line that says with which profiles some code was compiled.
func AppendProfiles(text []byte, code CodeKey, ids []int) []byte {
	text = fmt.Appendf(append(text, profilesTag...), "compile_id='%d'", code.ID)
	if code.OSR {
		text = append(text, " osr='1'"...)
	}
	text = append(text, " ids='"...)
	for i, id := range ids {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, int64(id), 10)
	}
	return append(text, "'/>\n"...)
}

// Profiles are the profiles of methods in a log. MethodProfile says what a profile is.
type Profiles struct {
	byID      map[int]*MethodProfile
	compiled  map[CodeKey]*codeProfiles
	open      *MethodProfile    // the profile whose sites are being read
	sites     int               // number of sites in all profiles
	bytecodes map[string]string // interned names of bytecodes, to save memory
}

// codeProfiles are the profiles with which some code was compiled.
type codeProfiles struct {
	list  []*MethodProfile
	known map[int]bool // their numbers
}

// Of returns the profiles of the methods that are in some code: the compiled method, and the methods inlined into it.
// Several profiles may belong to methods with the same name; their lines distinguish overloaded methods. If several
// have the same line, they are in the order in which gasm read them.
func (p *Profiles) Of(code CodeKey) []*MethodProfile {
	if of := p.compiled[code]; of != nil {
		return of.list
	}
	return nil
}

// CompiledWith calls yield for each piece of code that has profiles, and passes these profiles to it.
func (p *Profiles) CompiledWith(yield func(code CodeKey, profiles []*MethodProfile) bool) {
	for code, of := range p.compiled {
		if !yield(code, of.list) {
			return
		}
	}
}

const (
	// maxProfiles and maxProfileSites limit the number of profiles of a log and of their sites. A program with 100 000
	// compiled methods has fewer. Further profiles and sites are ignored.
	maxProfiles, maxProfileSites = 1 << 20, 1 << 24
	// maxInlined limits the number of profiles of one piece of code. HotSpot inlines at most a few hundred methods into
	// one.
	maxInlined = 1 << 12
	// maxProfileTypes is the limit of HotSpot's TypeProfileWidth.
	maxProfileTypes = 8
	// maxProfileCount limits counts, so that sums of them fit in 64 bits.
	maxProfileCount = 1 << 48
)

// tag reads a line, if it is one of the tags above.
func (p *Profiles) tag(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, profileTag):
		p.start(line)
	case bytes.HasPrefix(line, profileCallTag), bytes.HasPrefix(line, profileBranchTag), bytes.HasPrefix(line,
		profileTypeTag):
		p.site(line)
	case bytes.HasPrefix(line, profilesTag):
		p.used(line)
	default:
		return false
	}
	return true
}

func (p *Profiles) start(line []byte) {
	p.open = nil
	id, err := strconv.Atoi(string(attr(line, "id")))
	name := attr(line, "method")
	if err != nil || len(name) == 0 || len(name) > maxName || len(p.byID) >= maxProfiles {
		return
	}
	if p.byID == nil {
		p.byID, p.compiled, p.bytecodes = map[int]*MethodProfile{}, map[CodeKey]*codeProfiles{}, map[string]string{}
	}
	p.open = &MethodProfile{Method: nameText(name), Traps: traps(line)}
	p.byID[id] = p.open
}

// traps reads the attributes of a tag after "method". Each has a reason as its name and a number as its value.
func traps(line []byte) (found []Trap) {
	for word := range strings.FieldsSeq(strings.TrimSuffix(string(line), "/>")) {
		reason, value, ok := strings.Cut(word, "='")
		n, err := strconv.ParseUint(strings.TrimSuffix(value, "'"), 10, 8)
		if ok && err == nil && reason != "id" && reason != "method" && n > 0 && isReason(reason) {
			found = append(found, Trap{reason, int(n)})
		}
	}
	return found
}

// isReason reports whether a text may be the name of a reason: lower-case letters, digits and underscores.
func isReason(text string) bool {
	return len(text) <= 64 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func (p *Profiles) site(line []byte) {
	if p.open == nil || p.sites >= maxProfileSites {
		return
	}
	fault := false
	number := func(name string, most int64) int64 {
		value := attr(line, name)
		if value == nil {
			return 0
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		fault = fault || err != nil || n < 0 || n > most
		return n
	}
	s := ProfileSite{BCI: int(number("bci", 1<<16)), Line: int(number("line", 1<<31-1)),
		Taken: number("taken", maxProfileCount), NotTaken: number("not_taken", maxProfileCount),
		Others: number("others", maxProfileCount), Failed: number("failed", maxProfileCount),
		More: number("more", 1) > 0, NullSeen: number("null_seen", 1) > 0}
	for i := 1; i <= maxProfileTypes; i++ {
		class, count := attr(line, "class"+strconv.Itoa(i)), number("count"+strconv.Itoa(i), maxProfileCount)
		if len(class) == 0 || len(class) > maxName {
			break
		}
		s.Types = append(s.Types, ProfileType{nameText(class), count})
	}
	bytecode := attr(line, "bytecode")
	if fault || len(bytecode) == 0 || !isReason(string(bytecode)) {
		return
	}
	s.Bytecode = p.bytecodes[string(bytecode)]
	if s.Bytecode == "" {
		s.Bytecode = string(bytecode)
		p.bytecodes[s.Bytecode] = s.Bytecode
	}
	slices.SortStableFunc(s.Types, func(a, b ProfileType) int { return cmp.Compare(b.Count, a.Count) })
	p.open.Sites = append(p.open.Sites, s)
	p.sites++
}

// used reads a line that says with which profiles some code was compiled. If code was copied bit by bit, there are
// several lines about it.
func (p *Profiles) used(line []byte) {
	id, err := strconv.Atoi(string(attr(line, "compile_id")))
	if err != nil || p.compiled == nil || len(p.compiled) >= maxProfiles {
		return
	}
	code := CodeKey{id, string(attr(line, "osr")) == "1"}
	of := p.compiled[code]
	if of == nil {
		of = &codeProfiles{known: map[int]bool{}}
		p.compiled[code] = of
	}
	for word := range bytes.FieldsSeq(attr(line, "ids")) {
		if len(of.list) >= maxInlined {
			break
		}
		n, err := strconv.Atoi(string(word))
		if profile := p.byID[n]; err == nil && profile != nil && !of.known[n] {
			of.known[n] = true
			of.list = append(of.list, profile)
		}
	}
}
