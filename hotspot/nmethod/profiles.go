package nmethod

import (
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/methoddata"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A profiler reads what HotSpot has counted in methods, and writes it to a log.
type profiler struct {
	reader  *methoddata.Reader // nil if this build of HotSpot is not known
	written numbered           // the profiles in the log
	numbers map[uint64]int     // by the address of the Method; 0 for a method without a profile. Forget discards it
	classes map[uint64]bool    // see isClass; Forget discards it
	// used has the addresses of the Methods whose profiles were already looked for, by the code that contains them. For
	// each code, a profile is read only once, because the first reading is nearest to what the compiler has seen.
	used map[printassembly.CodeKey][]uint64 // ascending
}

// maxWritten limits the number of profiles in a log, and that of methods with a body. Methods beyond it have no profile
// or no body.
const maxWritten = 1 << 18

// maxUsed limits the number of keys in profiler.used. When it is reached, all keys are forgotten. After that, the log
// may get profiles for the same code again, which only makes it longer.
const maxUsed = 1 << 12

// newProfiler returns the profiler of a JVM. Without a reader it writes nothing.
func (c *Copier) newProfiler() *profiler {
	p := &profiler{written: newNumbered(), numbers: map[uint64]int{}, classes: map[uint64]bool{},
		used: map[printassembly.CodeKey][]uint64{}}
	java := c.javaBytecodes()
	p.reader, _ = methoddata.New(c.vm, &java)
	return p
}

// javaBytecodes returns a table that maps HotSpot's bytecodes to those of the JVM Specification that they replace. It
// maps unknown ones to 255, which is not a bytecode.
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

// AppendProfiles appends what HotSpot has counted in the method c and in the methods that were inlined into it, as far
// as AppendTo or an Excerpt has written frames of them. It appends nothing for C1's code, because C1 does not use the
// counts, and nothing for native methods. The appended lines may stand between two methods in a log.
//
// AppendProfiles reads the JVM's memory. A profile that can't be read is left out.
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
	key := c.Key()
	known, used := p.used[key], c.usedMethods()
	fresh := used
	if len(known) > 0 {
		fresh = slices.DeleteFunc(slices.Clone(used), func(at uint64) bool {
			_, ok := slices.BinarySearch(known, at)
			return ok
		})
	}
	if len(fresh) == 0 {
		return text
	}
	text = copier.appendNewProfiles(text, fresh)
	known = append(slices.Clip(known), fresh...)
	slices.Sort(known)
	p.used[key] = known
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
// encoding of debug info is not known, it returns the Methods of all scopes.
func (c *Code) usedMethods() (at []uint64) {
	at = make([]uint64, 0, len(c.used))
	if len(c.used) == 0 {
		last := -1
		_ = eachPCDesc(c.scopesPCs, len(c.MachineCode), func(d pcDesc) bool { // an error ends the list
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

// useScopes adds the methods of a scope and of its callers to c.used.
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
	read := make([]methoddata.Method, 0, len(used))
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

// append appends a profile, unless the log already has an equal one, and returns its number.
func (p *profiler) append(text []byte, profile *printassembly.MethodProfile) ([]byte, int) {
	start, number := len(text), p.written.next()
	if number > maxWritten {
		return text, 0
	}
	return p.written.keep(printassembly.AppendMethodProfile(text, number, profile), start)
}

// profileSites returns those sites of a profile that have counts or classes. Classes are given by their names. If the
// name of a class is not known, its site is left out: the class may have been unloaded.
func (c *Copier) profileSites(m *method, p *methoddata.Profile) (sites []printassembly.ProfileSite) {
	sites = make([]printassembly.ProfileSite, 0, len(p.Sites))
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
	if len(from) == 0 {
		return nil, true
	}
	types = make([]printassembly.ProfileType, 0, len(from))
	for _, t := range from {
		name, err := c.className(t.Class)
		if err != nil || name == "" || !c.isClass(t.Class) {
			return nil, false
		}
		types = append(types, printassembly.ProfileType{Class: name, Count: t.Count})
	}
	return types, true
}

// isClass reports whether there is a class at an address. If the symbols of libjvm.so are unknown, it can't tell, and
// returns true. Each address is looked at only once.
func (c *Copier) isClass(at uint64) bool {
	is, known := c.profiler.classes[at]
	if !known {
		is = len(c.tables) == 0 || c.kindOf(at) == klassMetadata
		c.profiler.classes[at] = is
	}
	return is
}

// maxOverloads is the maximum number of methods with the same name that the function distinguishable compares. If some
// code has more of them, which is rare, none of them gets a profile.
const maxOverloads = 16

// distinguishable returns those of the fresh methods to which frames of the code can be assigned. A frame has the name
// of a method, a bci and a line. So if several of the used methods have the same name, only those are returned that
// share no line with another one.
func (c *Copier) distinguishable(fresh, used []uint64) (kept []uint64) {
	if len(used) == 1 {
		return fresh
	}
	named := make(map[string][]*method, len(fresh)) // by name: the used methods with the name of a fresh one
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

// addAlone adds to the set alone each of the methods that shares no source line with another one. All methods have the
// same name. If the lines of a method are unknown, it may share a line with any other method.
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
	owners := map[int]*method{} // by line: the first method that has it
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
