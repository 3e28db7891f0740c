package usdt

import "strings"

// The providers of libjvm.so.
const (
	Provider        = "hotspot"
	JNIProvider     = "hotspot_jni"
	PrivateProvider = "hs_private"
)

// A parameter is what one or two arguments of a probe are.
type parameter struct {
	name string
	kind parameterKind
}

type parameterKind uint8

const (
	number  parameterKind = iota
	address               // shown as 0x…
	text                  // two arguments: the address and the length of modified UTF-8, which stays
	brief                 // the same, but the text is gone when the probe was left
	boolean
)

// width is how many arguments it takes.
func (k parameterKind) width() int {
	if k == text || k == brief {
		return 2
	}
	return 1
}

// Parameters that several probes have.
var (
	methodNames    = []parameter{{"class", text}, {"method", text}, {"signature", text}}
	compiledMethod = append([]parameter{{"compiler", text}}, methodNames...)
	calledMethod   = append([]parameter{{"thread", number}}, methodNames...)
	monitored      = []parameter{{"thread", number}, {"monitor", address}, {"class", text}}
	initialized    = []parameter{{"class", text}, {"loader", address}, {"thread_type", number}}
	initializing   = append(initialized[:3:3], parameter{"waits", boolean})
	loadedClass    = []parameter{{"class", text}, {"loader", address}, {"shared", boolean}}
	pool           = []parameter{{"manager", text}, {"pool", text}, {"initial", number}, {"used", number}, {"committed", number}, {"max", number}}
	operation      = []parameter{{"operation", text}, {"mode", number}}
	startedThread  = []parameter{{"name", brief}, {"thread", number}, {"os_thread", number}, {"daemon", boolean}}
)

// known are the probes of hotspot and hs_private by their names, with what their arguments are
// (src/hotspot/os/posix/dtrace/hotspot.d and hs_private.d in the JDK's source; 11 to 28).
var known = map[string][]parameter{
	"hotspot:class__initialization__clinit":        initializing,
	"hotspot:class__initialization__concurrent":    initializing,
	"hotspot:class__initialization__end":           initializing,
	"hotspot:class__initialization__erroneous":     initializing,
	"hotspot:class__initialization__error":         initializing,
	"hotspot:class__initialization__recursive":     initializing,
	"hotspot:class__initialization__required":      initialized,
	"hotspot:class__initialization__super__failed": initializing,
	"hotspot:class__loaded":                        loadedClass,
	"hotspot:class__unloaded":                      loadedClass,
	"hotspot:compiled__method__load":               append(methodNames[:3:3], parameter{"code", address}, parameter{"size", number}),
	"hotspot:compiled__method__unload":             methodNames,
	"hotspot:gc__begin":                            {{"full", boolean}},
	"hotspot:gc__end":                              {},
	"hotspot:mem__pool__gc__begin":                 pool,
	"hotspot:mem__pool__gc__end":                   pool,
	"hotspot:method__compile__begin":               compiledMethod,
	"hotspot:method__compile__end":                 append(compiledMethod[:4:4], parameter{"success", boolean}),
	"hotspot:method__entry":                        calledMethod,
	"hotspot:method__return":                       calledMethod,
	"hotspot:monitor__contended__enter":            monitored,
	"hotspot:monitor__contended__entered":          monitored,
	"hotspot:monitor__contended__exit":             monitored,
	"hotspot:monitor__notify":                      monitored,
	"hotspot:monitor__notifyAll":                   monitored,
	"hotspot:monitor__wait":                        append(monitored[:3:3], parameter{"timeout", number}),
	"hotspot:monitor__waited":                      monitored,
	"hotspot:object__alloc":                        {{"thread", number}, {"class", text}, {"size", number}},
	"hotspot:thread__park__begin":                  {{"blocker", address}, {"absolute", boolean}, {"time", number}},
	"hotspot:thread__park__end":                    {{"blocker", address}},
	"hotspot:thread__sleep__begin":                 {{"time", number}},
	"hotspot:thread__sleep__end":                   {{"interrupted", boolean}},
	"hotspot:thread__start":                        startedThread,
	"hotspot:thread__stop":                         startedThread,
	"hotspot:thread__unpark":                       {{"parker", address}},
	"hotspot:thread__yield":                        {},
	"hotspot:vm__init__begin":                      {},
	"hotspot:vm__init__end":                        {},
	"hotspot:vm__shutdown":                         {},
	"hotspot:vmops__begin":                         operation,
	"hotspot:vmops__end":                           operation,
	"hotspot:vmops__request":                       operation,
	"hs_private:cms__initmark__begin":              {},
	"hs_private:cms__initmark__end":                {},
	"hs_private:cms__remark__begin":                {},
	"hs_private:cms__remark__end":                  {},
	"hs_private:safepoint__begin":                  {},
	"hs_private:safepoint__end":                    {},
}

// parametersOf says what a probe's arguments are. Of a probe that is not known, or has not as
// many arguments as it is known to have, they are numbers without a name.
func parametersOf(p *Probe) []parameter {
	parameters, ok := known[p.FullName()]
	width := 0
	for _, par := range parameters {
		width += par.kind.width()
	}
	if ok && width == len(p.Args) {
		return parameters
	}
	kind := number
	if p.Provider == JNIProvider {
		kind = address
	}
	plain := make([]parameter, len(p.Args))
	for i := range plain {
		plain[i].kind = kind
	}
	return plain
}

// Flag is the option that a JVM must be started with so that a probe is reached; "" for none.
func (p *Probe) Flag() string {
	switch {
	case p.Provider != Provider:
		return ""
	case strings.HasPrefix(p.Name, "monitor__"):
		return monitorFlag
	case p.Name == objectAlloc:
		return allocFlag
	case p.Name == "method__entry" || p.Name == "method__return":
		return methodFlag
	}
	return ""
}

const (
	monitorFlag = "-XX:+DTraceMonitorProbes"
	allocFlag   = "-XX:+DTraceAllocProbes"
	methodFlag  = "-XX:+DTraceMethodProbes"
)

// Told says what a JVM tells of only with an option that [FlagsOf] has given.
func Told(option string) string {
	return map[string]string{monitorFlag: "locks or Object.wait", allocFlag: "allocations", methodFlag: "calls of methods"}[option]
}

// objectAlloc is the probe of an allocation.
const objectAlloc = "object__alloc"
