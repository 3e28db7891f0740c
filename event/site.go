package event

import (
	"slices"
	"strings"
)

// A SiteRule chooses a frame of a stack as the place where a thread waited for a lock or allocated memory.
type SiteRule string

const (
	// SiteOwn is the innermost frame that does not belong to the JDK: "com.acme.Handler::get" rather than
	// "java.util.HashMap::resize". If all frames belong to the JDK, it is the same as SiteInnermost. The JDK's classes
	// are those in the packages java, javax, jdk, sun and com.sun.
	SiteOwn SiteRule = "own"
	// SiteInnermost is the innermost frame or, if a thread was parked, the innermost frame that does not belong to the
	// implementation of a lock.
	SiteInnermost SiteRule = "innermost"
)

// SiteRules lists all rules.
var SiteRules = []string{string(SiteOwn), string(SiteInnermost)}

// jdkPackages are the beginnings of the names of the JDK's classes.
var jdkPackages = []string{"java.", "javax.", "jdk.", "sun.", "com.sun."}

// lockPackages are the beginnings of the names of the classes that implement locks.
var lockPackages = []string{"java.util.concurrent.locks.", "jdk.internal.misc.", "sun.misc."}

func isIn(packages []string, method string) bool {
	return slices.ContainsFunc(packages, func(p string) bool { return strings.HasPrefix(method, p) })
}

// Index returns the index of the frame that the rule chooses from a stack, or -1 if there is none. The innermost frame
// comes first. parked is true if the stack is that of a parked thread.
func (r SiteRule) Index(stack []Frame, parked bool) int {
	if r != SiteInnermost {
		if i := slices.IndexFunc(stack, func(f Frame) bool { return !isIn(jdkPackages, f.Method) }); i >= 0 {
			return i
		}
	}
	return slices.IndexFunc(stack, func(f Frame) bool { return !parked || !isIn(lockPackages, f.Method) })
}

// From returns the frames of an event's stack from the one that the rule chooses to the outermost one. It returns nil
// if the rule chooses none.
func (r SiteRule) From(e *Event) []Frame {
	i := r.Index(e.Frames, e.Kind == Park)
	if i < 0 {
		return nil
	}
	return e.Frames[i:]
}

// Site returns the frame that the rule chooses for an event. It returns the zero Frame if there is none.
func (r SiteRule) Site(e *Event) Frame {
	if stack := r.From(e); len(stack) > 0 {
		return stack[0]
	}
	return Frame{}
}
