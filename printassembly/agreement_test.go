package printassembly

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gasm-profiler/gasm/disasm"
)

// HotSpot passes hsdis the debug info and the relocations of each instruction. HotSpot's own hex dump has them at cells
// of four bytes, so this package guesses which instruction of a cell they belong to. The code below compares the
// guesses with what hsdis printed, for methods that have the same code in two runs of one program. A guess may only be
// wrong where the cell leaves a choice.

// A comparison has the differences between methods read from bytes (got) and methods read from hsdis's text (want).
type comparison struct {
	methods, compared int
	// moved are comments that are on another instruction of the same cell than in hsdis's text. lost are comments in
	// hsdis's text that are missing in the dump, because HotSpot prints one debug info and one relocation per cell.
	moved, lost []string
	// wrong are all other differences. None is allowed.
	wrong []string
}

// compareMethods compares the methods that have the same code in both.
func compareMethods(got, want map[string][]Instruction) (c comparison) {
	keys := make([]string, 0, len(got))
	for key := range got {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if sameMethod(got[key], want[key]) && sameInlining(got[key], want[key]) {
			c.methods++
			c.comments(key+", debug info", got[key], want[key], debugInfo)
			c.comments(key+", relocation", got[key], want[key], relocations)
		}
	}
	return c
}

// comments compares the comments of one kind.
func (c *comparison) comments(key string, got, want []Instruction, comment func(*Instruction) string) {
	// find looks for an instruction with the comment near instruction i.
	find := func(in []Instruction, i int, has func(text string) bool) (j int, ok bool) {
		for j := max(i-8, 0); j < min(i+9, len(in)); j++ { // a cell reaches over at most eight instructions on each side
			if sameCell(&got[i], &got[j]) && has(comment(&in[j])) {
				return j, true
			}
		}
		return 0, false
	}
	for i := range got {
		g, w := comment(&got[i]), comment(&want[i])
		if g != "" || w != "" {
			c.compared++
		}
		if g == w {
			continue
		}
		at := fmt.Sprintf("%s, +%#x %s: ", key, got[i].Lo-got[0].Lo, normal(got[i].Text))
		if g != "" {
			if j, ok := find(want, i, func(text string) bool { return text == g }); ok {
				c.moved = append(c.moved, at+fmt.Sprintf("hsdis has it at +%#x %s", got[j].Lo-got[0].Lo,
					normal(got[j].Text)))
			} else {
				c.wrong = append(c.wrong, at+fmt.Sprintf("%s; hsdis: %s", g, w))
			}
		}
		if w == "" {
			continue
		}
		if _, moved := find(got, i, func(text string) bool { return text == w }); moved {
			continue
		}
		if j, ok := find(got, i, func(text string) bool { return text != "" }); ok {
			c.lost = append(c.lost, at+fmt.Sprintf("%s; its cell has what is of +%#x", w, got[j].Lo-got[0].Lo))
		} else {
			c.wrong = append(c.wrong, at+fmt.Sprintf("%s; hsdis: %s", g, w))
		}
	}
}

// sameCell reports whether one cell can contain bytes of both instructions. HotSpot looks for relocations in all
// bytes of a cell, and for debug info at the instructions' ends. An instruction that is really data, as in C1's stubs
// for patching, can have debug info within it.
func sameCell(a, b *Instruction) bool { return a.Lo < b.Hi+3 && b.Lo < a.Hi+3 }

// debugInfo returns the frames of an instruction's own debug info.
func debugInfo(in *Instruction) string {
	if !in.OwnFrames {
		return ""
	}
	return longHex.ReplaceAllString(fmt.Sprint(in.Frames), "ADDRESS")
}

// relocations returns the comments in braces, without addresses. The stub of a call has {runtime_call}, {runtime_call
// nmethod} or {runtime_call I2C/C2I adapters}, depending on when the call was resolved, so this differs from run to
// run.
func relocations(in *Instruction) string {
	var found []string
	for _, c := range in.Comments {
		if strings.HasPrefix(c, "{") && !strings.HasPrefix(c, "{method}") {
			c = stubTarget.ReplaceAllString(c, "{runtime_call}")
			found = append(found, longHex.ReplaceAllString(c, "ADDRESS"))
		}
	}
	return strings.Join(found, " ")
}

var (
	stubTarget  = regexp.MustCompile(`^\{runtime_call( nmethod| I2C/C2I adapters)\}$`)
	longHex     = regexp.MustCompile(`(Stub::\w+(\+\d+)? ?)?0x[0-9a-f]{6,}|Stub::\w+`)
	noted       = regexp.MustCompile(` *# .*$`)
	shiftByOne  = regexp.MustCompile(`^((?:sh[lr]|sa[lr]|ro[lr]|rc[lr])[bwlq]?) \$1,`)
	withOne     = regexp.MustCompile(`^((?:sh[lr]|sa[lr]|ro[lr]|rc[lr]) .*),1$`)
	stubMethod  = regexp.MustCompile(`^(movabs (\$0x0,%rbx|rbx,0x0))$`)
	armedGuard  = regexp.MustCompile(`^(cmpl \$0x[01](,0x20\(%r15\))|cmp DWORD PTR \[r15\+0x20\],0x[01])$`)
	undecodable = regexp.MustCompile(`^(\.byte 0x[0-9a-f]+|.*\(bad\))$`)
)

// normal removes from an instruction what differs from run to run, and what versions of objdump spell differently:
//
//   - addresses, which are longer than offsets, and their comments ("# 0x…");
//   - the method in the stub of a static call, which is 0 until the call is resolved;
//   - the value that the barrier at a method's entry compares with, which garbage collections change
//     (BarrierSetAssembler::nmethod_entry_barrier);
//   - bytes that are not an instruction: ".byte 0x43", or "(bad)" and "rex.XB (bad)";
//   - shifts by one: "shl %ebx" in binutils 2.40, "shl $1,%ebx" in 2.44.
//
// Tests ask for some texts many times, so all results are kept.
func normal(text string) string {
	if known, ok := normals.Load(text); ok {
		return known.(string)
	}
	short := normalized(text)
	normals.Store(text, short)
	return short
}

var normals sync.Map // the results of normal, by its argument

func normalized(text string) string {
	text = strings.Join(strings.Fields(noted.ReplaceAllString(text, "")), " ")
	switch {
	case stubMethod.MatchString(text):
		text = strings.Replace(text, "0x0", "0x000000", 1)
	case armedGuard.MatchString(text):
		return "cmp GUARD"
	case undecodable.MatchString(text):
		return "(bad)"
	}
	text = withOne.ReplaceAllString(shiftByOne.ReplaceAllString(text, "$1 "), "$1")
	return longHex.ReplaceAllString(text, "ADDRESS")
}

// compilations returns the code of each method that was compiled once at its tier, by method and tier. Overloads have
// the same name, so they are left out.
func compilations(t *testing.T, l *Log, syntax disasm.Syntax) map[string][]Instruction {
	t.Helper()
	found := map[string][]Instruction{}
	for i := range l.Blobs {
		b := &l.Blobs[i]
		if b.Kind != NMethod {
			continue
		}
		insts, err := l.Code(b, syntax)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("%s, %s", b.Name, b.Source())
		if b.OSR {
			key += fmt.Sprintf(" at %d", b.OSRBCI)
		}
		if _, twice := found[key]; twice {
			insts = nil
		}
		found[key] = insts
	}
	return found
}

// sameMethod reports whether two listings have the same instructions at the same offsets and are not of two
// overloads. From run to run, C2 may choose other registers, or order the slow paths at the end of a method
// differently, so that jumps have other targets.
func sameMethod(a, b []Instruction) bool {
	return len(a) > 0 && firstLine(a) == firstLine(b) && slices.EqualFunc(a, b, func(x, y Instruction) bool {
		return x.Lo-a[0].Lo == y.Lo-b[0].Lo && normal(x.Text) == normal(y.Text) &&
			offsetOfTarget(x, a) == offsetOfTarget(y, b)
	})
}

// offsetOfTarget returns the offset in the method to which an instruction jumps, or 0 if the target is elsewhere.
func offsetOfTarget(in Instruction, method []Instruction) uint64 {
	lo, hi := method[0].Lo, method[len(method)-1].Hi
	if in.Target < lo || in.Target >= hi {
		return 0
	}
	return in.Target - lo
}

// firstLine returns the method's lowest source line.
func firstLine(insts []Instruction) int {
	line := 1 << 30
	for i := range insts {
		if n := len(insts[i].Frames); n > 0 {
			line = min(line, insts[i].Frames[n-1].Line)
		}
	}
	return line
}

// sameInlining reports whether all frames of one listing are in the other one, too. Two runs can make the same
// instructions from different methods.
func sameInlining(got, want []Instruction) bool {
	known := map[string]bool{}
	for i := range want {
		known[debugInfo(&want[i])] = true
	}
	return !slices.ContainsFunc(got, func(in Instruction) bool { return in.OwnFrames && !known[debugInfo(&in)] })
}
