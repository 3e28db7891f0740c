package gasmtest

import (
	"fmt"
	"regexp"
	"strings"
)

// knownThreads are the threads of the program Stacks.java, and what their Java methods must be: all of them where the
// innermost is Stacks::work, and the outermost ones of each sample.
var knownThreads = map[string]struct{ all, outer string }{
	"recursion":   {`Stacks::recursion( Stacks::recurse){201}`, `Stacks::recursion`},
	"random":      {`Stacks::random( Stacks::recurse){1,128}`, `Stacks::random`},
	"lambda":      {`Stacks::lambda( \S*ambda\S*)+`, `Stacks::lambda`},
	"megamorphic": {`Stacks::megamorphic Stacks\$(Circle|Square|Star)::area`, `Stacks::megamorphic`},
	"thrown":      {`Stacks::thrown`, `Stacks::thrown`},
	"sorted":      {`Stacks::sorted java.util.ArrayList::sort( java.util.ArrayList::sortRange)? java.util.Arrays::sort java.util.TimSort::sort( java.util.TimSort::\w+)?( \S*ambda\S*::compare)? Stacks::compare`, `Stacks::sorted`},
	"reflected":   {`Stacks::reflected( \S*(reflect|invoke|Accessor|LambdaForm)\S*)+`, `Stacks::reflected`},
	"locked":      {`Stacks::locked`, `Stacks::locked`},
	"locked too":  {`Stacks::locked`, `Stacks::locked`},
	"format":      {``, `Stacks::format`},
	"deflated":    {``, `Stacks::deflated`},
	"allocated":   {``, `Stacks::allocated`},
	"copied":      {``, `Stacks::copied`},
	"read":        {``, `Stacks::read`},
	"timed":       {``, `Stacks::timed`},
	"built":       {``, `Stacks::built`},
}

// outermost are the methods from Thread.run to the thread's own method. The sampled method is the last one that is known,
// because methods that were inlined at the sampled instruction are not on the stack.
const (
	outermost = `^java.lang.Thread::run Stacks::lambda\$main\$\d+ Stacks::loop `
	outerOnly = `^java.lang.Thread::run( Stacks::lambda\$main\$\d+( Stacks::loop( %s.*)?)?)?$`
)

// notOurs are methods that the JDK puts between those of Stacks.java, some releases more than others.
var notOurs = regexp.MustCompile(` (java.lang.Thread::runWith|\S*Lambda\S*::run)\b`)

// KnownStack reports whether the Java methods on a stack, the outermost first, are those that a thread of the program
// Stacks.java has. known is false if nothing is known about the thread.
func KnownStack(thread string, methods []string) (right, known bool) {
	of, known := knownThreads[thread]
	if !known {
		return false, false
	}
	text := notOurs.ReplaceAllString(strings.Join(methods, " "), "")
	want := fmt.Sprintf(outerOnly, of.outer)
	if strings.HasSuffix(text, " Stacks::work") && of.all != "" {
		want = outermost + of.all + ` Stacks::work$`
	}
	return regexp.MustCompile(want).MatchString(text), true
}
