package usdt

import (
	"maps"
	"slices"
)

// The providers of libjvm.so.
const (
	Provider        = "hotspot"
	JNIProvider     = "hotspot_jni"
	PrivateProvider = "hs_private"
)

// A Parameter describes one argument of a probe, or two that form a text: its address and its length.
type Parameter struct {
	Name string
	Kind ParameterKind
}

// A ParameterKind says how the arguments of a Parameter are read and shown.
type ParameterKind uint8

const (
	Number  ParameterKind = iota
	Address               // shown as 0x…
	Text                  // two arguments: the address and the length of modified UTF-8, which stays in memory
	Brief                 // like Text, but the text may disappear as soon as the program has left the probe
	Boolean
)

// Width returns the number of arguments that a parameter of this kind has.
func (k ParameterKind) Width() int {
	if k == Text || k == Brief {
		return 2
	}
	return 1
}

// Known returns the full names of the probes of hotspot and hs_private whose arguments are known, sorted.
func Known() []string { return slices.Sorted(maps.Keys(known)) }

// Parameters returns the parameters of the probe with a full name, such as "hotspot:gc__begin". It
// returns nil if the probe is not known. The caller must not change the result.
func Parameters(name string) []Parameter { return known[name] }

// Lists of parameters that several probes share.
var (
	methodNames    = []Parameter{{"class", Text}, {"method", Text}, {"signature", Text}}
	compiledMethod = append([]Parameter{{"compiler", Text}}, methodNames...)
	calledMethod   = append([]Parameter{{"thread", Number}}, methodNames...)
	monitored      = []Parameter{{"thread", Number}, {"monitor", Address}, {"class", Text}}
	initialized    = []Parameter{{"class", Text}, {"loader", Address}, {"thread_type", Number}}
	initializing   = append(initialized[:3:3], Parameter{"waits", Boolean})
	loadedClass    = []Parameter{{"class", Text}, {"loader", Address}, {"shared", Boolean}}
	pool           = []Parameter{{"manager", Text}, {"pool", Text}, {"initial", Number}, {"used", Number},
		{"committed", Number}, {"max", Number}}
	operation     = []Parameter{{"operation", Text}, {"mode", Number}}
	startedThread = []Parameter{{"name", Brief}, {"thread", Number}, {"os_thread", Number}, {"daemon", Boolean}}
)

// known maps the full names of the probes of hotspot and hs_private to their parameters. They are
// taken from src/hotspot/os/posix/dtrace/hotspot.d and hs_private.d in the source of JDK 11 to 28.
var known = map[string][]Parameter{
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
	"hotspot:compiled__method__load": append(methodNames[:3:3], Parameter{"code", Address},
		Parameter{"size", Number}),
	"hotspot:compiled__method__unload":    methodNames,
	"hotspot:gc__begin":                   {{"full", Boolean}},
	"hotspot:gc__end":                     {},
	"hotspot:mem__pool__gc__begin":        pool,
	"hotspot:mem__pool__gc__end":          pool,
	"hotspot:method__compile__begin":      compiledMethod,
	"hotspot:method__compile__end":        append(compiledMethod[:4:4], Parameter{"success", Boolean}),
	"hotspot:method__entry":               calledMethod,
	"hotspot:method__return":              calledMethod,
	"hotspot:monitor__contended__enter":   monitored,
	"hotspot:monitor__contended__entered": monitored,
	"hotspot:monitor__contended__exit":    monitored,
	"hotspot:monitor__notify":             monitored,
	"hotspot:monitor__notifyAll":          monitored,
	"hotspot:monitor__wait":               append(monitored[:3:3], Parameter{"timeout", Number}),
	"hotspot:monitor__waited":             monitored,
	"hotspot:object__alloc":               {{"thread", Number}, {"class", Text}, {"size", Number}},
	"hotspot:thread__park__begin":         {{"blocker", Address}, {"absolute", Boolean}, {"time", Number}},
	"hotspot:thread__park__end":           {{"blocker", Address}},
	"hotspot:thread__sleep__begin":        {{"time", Number}},
	"hotspot:thread__sleep__end":          {{"interrupted", Boolean}},
	"hotspot:thread__start":               startedThread,
	"hotspot:thread__stop":                startedThread,
	"hotspot:thread__unpark":              {{"parker", Address}},
	"hotspot:thread__yield":               {},
	"hotspot:vm__init__begin":             {},
	"hotspot:vm__init__end":               {},
	"hotspot:vm__shutdown":                {},
	"hotspot:vmops__begin":                operation,
	"hotspot:vmops__end":                  operation,
	"hotspot:vmops__request":              operation,
	"hs_private:cms__initmark__begin":     {},
	"hs_private:cms__initmark__end":       {},
	"hs_private:cms__remark__begin":       {},
	"hs_private:cms__remark__end":         {},
	"hs_private:safepoint__begin":         {},
	"hs_private:safepoint__end":           {},
}
