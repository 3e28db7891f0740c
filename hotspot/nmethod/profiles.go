package nmethod

import (
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/methoddata"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A profiler reads what HotSpot has counted in methods, and writes it.
type profiler struct {
	reader  *methoddata.Reader // nil if this build of HotSpot is not known
	written numbered           // the profiles in the log
	numbers map[uint64]int     // by the address of the Method; 0 for a method without a profile. Forget discards it
	classes map[uint64]bool    // see isClass; Forget discards it
	// used has the addresses of the Methods whose profiles were looked for, by the code. The first reading is the one that
	// is nearest to what the compiler has seen.
	used map[printassembly.CodeKey]map[uint64]bool
}

// maxWritten limits the number of profiles in a log. Methods beyond it have none.
const maxWritten = 1 << 18

// maxUsed limits the number of keys of profiler.used. When it is reached, all are forgotten, which only makes the
// log longer.
const maxUsed = 1 << 12

// newProfiler returns the profiler of a JVM. Without a reader it writes nothing.
func (c *Copier) newProfiler() *profiler {
	p := &profiler{written: newNumbered(), numbers: map[uint64]int{}, classes: map[uint64]bool{},
		used: map[printassembly.CodeKey]map[uint64]bool{}}
	java := c.javaBytecodes()
	p.reader, _ = methoddata.New(c.vm, &java)
	return p
}

// javaBytecodes maps HotSpot's bytecodes to those of the JVM Specification that they replace. Unknown ones are mapped
// to 255, which is not a bytecode.
func (c *Copier) javaBytecodes() (java [256]byte) {
	numbers := map[string]byte{}
	for i, name := range bytecodeNames {
		numbers[name] = byte(i)
	}
	for i, name := range c.bytecodes {
		number, ok := numbers[name]
		if !ok {
			number = 255
		}
		java[i] = number
	}
	return java
}

// AppendProfiles appends what HotSpot has counted in the method c and in those that were inlined into it, as far as
// AppendTo or an Excerpt has written their frames. It appends nothing for code of C1, which does not use it, and for
// native methods. The lines may be written between two methods.
//
// It reads the JVM's memory, and an error in that only means that there is no profile.
func (c *Code) AppendProfiles(text []byte) []byte {
	if c.Compiler == "" || c.Compiler == "c1" {
		return text
	}
	copier := c.copier
	if copier.profiler == nil {
		copier.profiler = copier.newProfiler()
	}
	p := copier.profiler
	if p.reader == nil {
		return text
	}
	if len(p.used) >= maxUsed {
		clear(p.used)
	}
	known := p.used[c.Key()]
	if known == nil {
		known = map[uint64]bool{}
		p.used[c.Key()] = known
	}
	used := c.usedMethods()
	fresh := slices.DeleteFunc(slices.Clone(used), func(at uint64) bool { return known[at] })
	if len(fresh) == 0 {
		return text
	}
	text = copier.appendNewProfiles(text, fresh)
	for _, at := range fresh {
		known[at] = true
	}
	var numbers []int
	for _, at := range copier.distinguishable(fresh, used) {
		if n := p.numbers[at]; n > 0 {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return text
	}
	return printassembly.AppendProfiles(text, c.Key(), numbers)
}

// usedMethods returns the addresses of the Methods in the frames that were written. If there are none, because the
// encoding of debug info is not known, it returns those of all scopes.
func (c *Code) usedMethods() (at []uint64) {
	if len(c.used) == 0 {
		last := -1
		_ = eachPCDesc(c.scopesPCs, len(c.MachineCode), func(d pcDesc) bool { // after an error, there are fewer
			if d.scope != last {
				c.useScopes(d.scope)
			}
			last = d.scope
			return true
		})
	}
	for index := range c.used {
		at = append(at, c.methods[index-1])
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// useScopes notes the methods of a scope and of its senders.
func (c *Code) useScopes(offset int) {
	for n := 0; offset > 0 && n < maxFrames; n++ {
		s, ok := readScope(c.scopesData, offset, c.copier.layout.release)
		if !ok || s.method == 0 || s.method > len(c.methods) {
			return
		}
		c.used[s.method] = true
		offset = s.sender
	}
}

// appendNewProfiles reads the profiles of those methods that it has not read since the last Forget, and appends those
// that are not in the log yet.
func (c *Copier) appendNewProfiles(text []byte, used []uint64) []byte {
	p := c.profiler
	var read []methoddata.Method
	for _, at := range used {
		if _, ok := p.numbers[at]; ok {
			continue
		}
		p.numbers[at] = 0
		if m, err := c.method(at); err == nil {
			read = append(read, methoddata.Method{Address: at, Data: m.data, Bytecode: m.bytecode})
		}
	}
	if len(read) == 0 {
		return text
	}
	profiles, err := p.reader.Read(read)
	if err != nil {
		return text
	}
	c.learnClasses(profiles)
	for i, found := range profiles {
		if found == nil {
			continue
		}
		m := c.methods[read[i].Address]
		profile := printassembly.MethodProfile{Method: m.name, Sites: c.profileSites(m, found)}
		for _, t := range found.Traps {
			profile.Traps = append(profile.Traps, printassembly.Trap(t))
		}
		if len(profile.Sites)+len(profile.Traps) > 0 {
			text, p.numbers[read[i].Address] = p.append(text, &profile)
		}
	}
	return text
}

// append appends a profile, unless the log has the same already, and returns its number.
func (p *profiler) append(text []byte, profile *printassembly.MethodProfile) ([]byte, int) {
	start, number := len(text), p.written.next()
	if number > maxWritten {
		return text, 0
	}
	return p.written.keep(printassembly.AppendMethodProfile(text, number, profile), start)
}

// profileSites returns the sites with counts, with the names of their classes. A site with a class that has no name is
// left out: the class may have been unloaded.
func (c *Copier) profileSites(m *method, p *methoddata.Profile) (sites []printassembly.ProfileSite) {
	for i := range p.Sites {
		from := &p.Sites[i]
		s := printassembly.ProfileSite{BCI: from.BCI, Line: m.line(from.BCI), Bytecode: bytecodeNames[from.Bytecode],
			Taken: from.Taken, NotTaken: from.NotTaken, NullSeen: from.NullSeen,
			Others: from.Others, Failed: from.Failed, More: from.More}
		var ok bool
		if s.Types, ok = c.profileTypes(from.Types); ok && (s.Taken+s.NotTaken > 0 || len(s.Types) > 0) {
			sites = append(sites, s)
		}
	}
	return sites
}

func (c *Copier) profileTypes(from []methoddata.Type) (types []printassembly.ProfileType, ok bool) {
	for _, t := range from {
		name, err := c.className(t.Class)
		if err != nil || name == "" || !c.isClass(t.Class) {
			return nil, false
		}
		types = append(types, printassembly.ProfileType{Class: name, Count: t.Count})
	}
	return types, true
}

// isClass reports whether there is a class at an address, as far as the symbols of libjvm.so tell. Each address is
// looked at only once.
func (c *Copier) isClass(at uint64) bool {
	is, known := c.profiler.classes[at]
	if !known {
		is = len(c.tables) == 0 || c.kindOf(at) == klassMetadata
		c.profiler.classes[at] = is
	}
	return is
}

// maxOverloads limits the methods of some code that have the same name and are told apart. More than that are rare, and
// none of them has a profile.
const maxOverloads = 16

// distinguishable returns those of the fresh methods that a frame of the code can be told to be of. Frames have the
// name of a method, a bci and a line. So of the used methods with the same name, it returns only those whose lines no
// other one has.
func (c *Copier) distinguishable(fresh, used []uint64) (kept []uint64) {
	named := map[string][]*method{} // the used methods, by the names of the fresh ones
	for _, at := range fresh {
		if m := c.methods[at]; m != nil {
			named[m.name] = nil
		}
	}
	for _, at := range used {
		if m := c.methods[at]; m != nil {
			if of, ok := named[m.name]; ok {
				named[m.name] = append(of, m)
			}
		}
	}
	alone := map[*method]bool{}
	for _, of := range named {
		addAlone(alone, of)
	}
	for _, at := range fresh {
		if alone[c.methods[at]] {
			kept = append(kept, at)
		}
	}
	return kept
}

// addAlone adds those of the methods of one name that share no line with another one. A method without lines may have
// any.
func addAlone(alone map[*method]bool, methods []*method) {
	if len(methods) == 1 {
		alone[methods[0]] = true
		return
	}
	if len(methods) > maxOverloads || slices.ContainsFunc(methods, func(m *method) bool { return len(m.lines) == 0 }) {
		return
	}
	for _, m := range methods {
		alone[m] = true
	}
	owners := map[int]*method{} // the first method with a line
	for _, m := range methods {
		for _, l := range m.lines {
			if owner := owners[l.line]; owner == nil {
				owners[l.line] = m
			} else if owner != m {
				alone[owner], alone[m] = false, false
			}
		}
	}
}
