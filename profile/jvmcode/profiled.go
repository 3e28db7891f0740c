package jvmcode

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
)

// Profiled returns what HotSpot's own profile says about the code of a blob. It is empty if the log has no profile of
// that code. Logs that HotSpot has written and logs of older versions of gasm have no profiles.
func (c *Reader) Profiled(r Ref) *jitprofile.Code {
	code, ok := c.profiled[r]
	if ok {
		return code
	}
	code = &jitprofile.Code{}
	if b := c.Blob(r); b.Kind.Java() {
		j := c.jvms[r.JVM]
		if profiles := j.Log.Profiles.Of(b.Key()); len(profiles) > 0 {
			code = jitprofile.Of(c.Listing(r), profiles, j.hasCallers)
		}
	}
	c.profiled[r] = code
	return code
}

// hasCallers reports whether a method has several callers in the compiled code of the JVM: it was inlined into the code
// of several others.
func (j *JVM) hasCallers(method string) bool {
	if j.callers == nil {
		j.callers = map[string][]string{}
		names := map[printassembly.CodeKey]string{}
		for i := range j.Log.Blobs {
			if b := &j.Log.Blobs[i]; b.Kind.Java() {
				names[b.Key()] = b.Name
			}
		}
		for code, profiles := range j.Log.Profiles.CompiledWith {
			for _, p := range profiles {
				if of := j.callers[p.Method]; len(of) < 2 && !slices.Contains(of, names[code]) && names[code] != "" &&
					names[code] != p.Method {
					j.callers[p.Method] = append(of, strings.Clone(names[code]))
				}
			}
		}
	}
	return len(j.callers[method]) > 1
}
