package gasmtest

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// A knownThread describes which Java methods may be on the stack of one thread of the program Stacks.java.
type knownThread struct {
	outer string // the thread's own method, which loop calls
	calls string // the methods from outer to the method work, if that was sampled; "-" if the thread does not call it
	other string // what else follows outer, before methods of the JDK
}

const (
	areas     = ` Stacks\$(Circle|Square|Star)::area`
	sorting   = ` java.util.ArrayList::sort( java.util.ArrayList::sortRange)? java.util.Arrays::sort java.util.TimSort::sort( java.util.TimSort::\w+)?( \S*ambda\S*::compare)? Stacks::compare`
	reflected = `( \S*(reflect|invoke|Accessor|LambdaForm)\S*)+`
	jdks      = `( (java|jdk|sun)\.\S+)*`
)

var knownThreads = map[string]knownThread{
	"recursion":   {`recursion`, `( Stacks::recurse){201}`, `( Stacks::recurse){0,201}`},
	"random":      {`random`, `( Stacks::recurse){1,128}`, `( Stacks::recurse){0,128}`},
	"lambda":      {`lambda`, `( \S*ambda\S*)+`, `( Stacks\S*ambda\S*)*`},
	"megamorphic": {`megamorphic`, areas, `(` + areas + `)?`},
	"thrown":      {`thrown`, ``, `( Stacks::throwing)?`},
	"sorted":      {`sorted`, sorting, jdks + `( \S*ambda\S*::compare)?( Stacks::compare)?`},
	"reflected":   {`reflected`, reflected, ``},
	"locked":      {`locked`, ``, ``},
	"locked too":  {`locked`, ``, ``},
	"format":      {`format`, `-`, ``},
	"deflated":    {`deflated`, `-`, ``},
	"allocated":   {`allocated`, `-`, ``},
	"copied":      {`copied`, `-`, ``},
	"read":        {`read`, `-`, ``},
	"timed":       {`timed`, `-`, ``},
	"built":       {`built`, `-`, ``},
}

// pattern returns a pattern for the Java methods on the thread's stack, from the outermost to the innermost. Methods
// that were inlined at the sampled instruction are not on the stack, so the innermost method may be a caller of the
// sampled one. If work is true, the innermost method is Stacks::work.
func (k *knownThread) pattern(work bool) *regexp.Regexp {
	text :=
		fmt.Sprintf(`^java.lang.Thread::run( Stacks::lambda\$main\$\d+(%s|( Stacks::loop( \S*Lambda\S*)?( Stacks::%s%s%s)?)?))?$`, jdks, k.outer, k.other, jdks)
	if work {
		text = fmt.Sprintf(`^java.lang.Thread::run Stacks::lambda\$main\$\d+ Stacks::loop Stacks::%s%s Stacks::work$`,
			k.outer, k.calls)
	}
	return compiled(text)
}

var patterns sync.Map

func compiled(text string) *regexp.Regexp {
	p, ok := patterns.Load(text)
	if !ok {
		p, _ = patterns.LoadOrStore(text, regexp.MustCompile(text))
	}
	return p.(*regexp.Regexp)
}

// notOurs matches methods of the JDK that lie between the methods of Stacks.java on a stack. They differ from release
// to release.
var notOurs = regexp.MustCompile(` (java.lang.Thread::runWith|\S*Lambda\S*::run)\b`)

// KnownStack reports whether the Java methods on a stack, the outermost first, can be those of the given thread of the
// program Stacks.java. The result known is false if nothing is known about the thread.
func KnownStack(thread string, methods []string) (right, known bool) {
	of, known := knownThreads[thread]
	if !known {
		return false, false
	}
	text := notOurs.ReplaceAllString(strings.Join(methods, " "), "")
	return of.pattern(strings.HasSuffix(text, " Stacks::work")).MatchString(text), true
}
