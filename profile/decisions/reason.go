package decisions

import (
	"fmt"
	"strings"
)

// notConstant is what C2 says if the target of a method handle is not a constant. C2 posts no event for that
// (print_inlining_failure in callGenerator.cpp).
const notConstant = "method handle is not constant"

// noReason is the reason in a report for a decision without a message.
const noReason = "the compiler gives no reason"

// A reason says what is known about one of the messages of a compiler.
type reason struct {
	// flags are the names that the flag with the limit has in different releases. The first of them that the JVM has is
	// used. If part is not 0, the limit is the flag's value divided by part.
	flags []string
	part  int64
	// sized is true if the limit is for the size of the callee's bytecode.
	sized  bool
	change string // what would make the compiler inline; %s is replaced with the callee, as in CompileCommand
}

const (
	inlineCommand = "-XX:CompileCommand=inline,%s"
	// callerTooBig is the advice for a compiled method that has become too large.
	callerTooBig = "the method that is compiled has become too large: split it, or keep calls from being inlined that matter less (-XX:CompileCommand=dontinline,…)"
	tooRare      = "nothing: it ran too rarely while it was profiled"
)

// reasons are the messages of C2 (bytecodeInfo.cpp) and C1 (c1_GraphBuilder.cpp) that depend on a limit, or about which
// the user can do something. C1 has some of C2's limits as flags of its own since JDK 16.
var reasons = map[string]reason{
	"hot method too big": {flags: []string{"FreqInlineSize"}, sized: true,
		change: "move what it does rarely into a method of its own, or use " + inlineCommand},
	"too big": {flags: []string{"MaxInlineSize"}, sized: true,
		change: "it was not called often enough while it was profiled to count as hot; make it smaller, or use " +
			inlineCommand},
	"already compiled into a big method": {flags: []string{"InlineSmallCode"},
		change: "a higher -XX:InlineSmallCode, or " + inlineCommand},
	"already compiled into a medium method": {flags: []string{"InlineSmallCode"}, part: 4,
		change: "it was not called often enough while it was profiled to count as hot; " +
			"a higher -XX:InlineSmallCode, or " + inlineCommand},
	"NodeCountInliningCutoff":   {flags: []string{"NodeCountInliningCutoff"}, change: callerTooBig},
	"size > DesiredMethodLimit": {flags: []string{"DesiredMethodLimit"}, change: callerTooBig},
	"inlining too deep": {flags: []string{"MaxInlineLevel"},
		change: "a shorter chain of calls, or a higher -XX:MaxInlineLevel"},
	"recursive inlining is too deep": {flags: []string{"MaxRecursiveInlineLevel"},
		change: "a loop in place of the recursion, or a higher -XX:MaxRecursiveInlineLevel"},
	"recursive inlining too deep": {flags: []string{"MaxRecursiveInlineLevel"},
		change: "a loop in place of the recursion, or a higher -XX:MaxRecursiveInlineLevel"},
	"executed < MinInliningThreshold times": {flags: []string{"MinInliningThreshold"}, change: tooRare},
	"low call site frequency":               {change: tooRare},
	"never executed":                        {change: tooRare},
	"call site not reached":                 {change: tooRare},
	"native method":                         {change: "nothing can inline it but an intrinsic of HotSpot: call it less often"},
	"unloaded signature classes":            {change: "classes of its parameters that are loaded before the method is compiled"},
	"don't inline by annotation":            {change: "nothing: its class says so"},
	"callee is too large": {flags: []string{"C1MaxInlineSize", "MaxInlineSize"}, sized: true,
		change: "make it smaller; C2 has a higher limit for methods that run often"},
	notConstant: {change: "a method handle in a static final field, or one that is made by invokedynamic"},
}

// constants has the values of flags that product builds of HotSpot have as constants, so the JVM does not list them.
var constants = Limits{"NodeCountInliningCutoff": 18000, "DesiredMethodLimit": 8000}

// limit returns the flag that has the limit of a reason, and its value. It returns "" if there is none, or if the JVM
// did not say.
func (r *reason) limit(limits Limits) (flag string, value int64) {
	for _, flag = range r.flags {
		if value, ok := limits[flag]; ok {
			return flag, value / max(r.part, 1)
		}
		if value, ok := constants[flag]; ok && len(limits) > 0 {
			return flag, value
		}
	}
	return "", 0
}

// withLimit returns a message with the callee's size and the limit: "hot method too big: 412 bytecodes, FreqInlineSize
// 325".
func (c *Call) withLimit(message string) string {
	r := reasons[message]
	var parts []string
	if r.sized && c.Size > 0 {
		parts = append(parts, fmt.Sprintf("%d bytecodes", c.Size))
	}
	if flag, value := r.limit(c.limits); flag != "" {
		if r.part > 1 {
			flag = fmt.Sprintf("%s / %d =", flag, r.part)
		}
		parts = append(parts, fmt.Sprintf("%s %d", flag, value))
	}
	if len(parts) == 0 {
		return message
	}
	return message + ": " + strings.Join(parts, ", ")
}

// Change says what would make the compiler inline the callee. It returns "" if nothing is known that would.
func (c *Call) Change() string {
	switch c.Outcome {
	case Virtual:
		return c.changeReceivers()
	case Refused:
		change := reasons[c.Reasons[0]].change
		if strings.Contains(change, "%s") {
			if !strings.Contains(c.Callee, "::") {
				change, _, _ = strings.Cut(change, ", or ")
				return change
			}
			return fmt.Sprintf(change, c.Callee)
		}
		return change
	}
	return ""
}

// changeReceivers says how a virtual call could get a likely receiver, so that C2 inlines it.
func (c *Call) changeReceivers() string {
	switch {
	case c.Note == nil || len(c.Note.Types) == 0:
		return ""
	case c.Note.AllCallers:
		return "fewer classes here; the profile is that of all callers of " + shortNames([]string{c.Frames[0].Method}) +
			": a copy of it for this caller would have its own"
	}
	return "two classes at most, or one with 90 % of the calls; a check of the class (instanceof) for the most frequent one"
}

// fits reports whether a compiler may have given message as the reason for a callee whose bytecode has this size.
func fits(message string, size int, limits Limits) bool {
	r := reasons[message]
	flag, value := r.limit(limits)
	return !r.sized || flag == "" || int64(size) > value
}
