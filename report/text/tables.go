package text

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// rankings returns the tables that rank code, in the order in which the report has them.
func rankings(v *view.View) []*ranking {
	return []*ranking{byTable(v), regionTable(v), methodTable(v), frameTable(v), interpretedTable(v), lineTable(v),
		nativeTable(v), vmTable(v), sourceTable(v), threadTable(v)}
}

// regionTable returns the table of regions of code and native functions.
func regionTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Hottest Regions", more: "warm region"}
	same := map[string]int{}
	key := func(reg *profile.Region) string { return reg.Source + " " + reg.Method + view.CompileID(reg.CompileID) }
	// Regions of native code are left out, because the table ranks native functions instead.
	regions := slices.DeleteFunc(slices.Clone(v.Profile.Regions), func(reg profile.Region) bool { return reg.Native })
	for i := range regions {
		same[key(&regions[i])]++
	}
	inOrder(regions, v.Profile.Native, func(reg *profile.Region) tally.Counts { return reg.Counts },
		func(reg *profile.Region, n *profile.NativeFunction) {
			if n != nil {
				t.addNative(n)
				return
			}
			t.add(reg.Counts, func() rankingRow {
				row := rankingRow{source: reg.Source, name: reg.Method, tail: view.CompileID(reg.CompileID)}
				if same[key(reg)] > 1 { // the method has several regions
					if v.Narrow() {
						row.tail = ""
					}
					row.tail += fmt.Sprintf(", at 0x%x", reg.Lo)
				}
				return row
			})
		})
	t.addOutside()
	return t
}

// methodTable returns the table of compiled methods, stubs, the interpreter's code and native functions.
func methodTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Hottest Methods (after inlining)", more: "warm method"}
	inOrder(v.Profile.Methods, v.Profile.Native, func(m *profile.Method) tally.Counts { return m.Counts },
		func(m *profile.Method, n *profile.NativeFunction) {
			if n != nil {
				t.addNative(n)
				return
			}
			t.add(m.Counts, func() rankingRow {
				row := rankingRow{source: m.Source, name: m.Name, tail: view.CompileID(m.CompileID)}
				if m.Blobs > 1 && m.CompileID != 0 { // a stub or codelet may have many blobs, but they are not compilations
					row.tail = ", " + layout.Plural(m.Blobs, "compilation")
				}
				return row
			})
		})
	t.addOutside()
	return t
}

// inOrder goes through pieces of code and native functions together, the hottest one first. Both lists must be in this
// order already. Each call of visit gets either a piece of code or a native function, and nil for the other.
func inOrder[T any](code []T, native []profile.NativeFunction, counts func(*T) tally.Counts,
	visit func(*T, *profile.NativeFunction)) {
	for len(code)+len(native) > 0 {
		if len(native) == 0 || len(code) > 0 && slices.Compare(counts(&code[0]), native[0].Counts) >= 0 {
			visit(&code[0], nil)
			code = code[1:]
		} else {
			visit(nil, &native[0])
			native = native[1:]
		}
	}
}

// addNative adds a native function.
func (t *ranking) addNative(n *profile.NativeFunction) {
	t.add(n.Counts, func() rankingRow { return rankingRow{source: n.Module, name: symbol(n), native: true} })
}

// symbol returns the name of a native function.
func symbol(n *profile.NativeFunction) string { return cmp.Or(n.Symbol, noSymbol) }

// noSymbol is the name of all functions of a library for which there is no symbol. The name of a region in such a
// function ends with it, too: "libz.so.1+0x4970 (no symbol)".
const noSymbol = "(no symbol)"

// addOutside adds rows for the samples that are in none of the table's rows, so that the table adds up to 100 %. It
// must be called after all rows were added.
func (t *ranking) addOutside() {
	unresolved, skipped := t.Zero(), t.Zero()
	for e, a := range t.Profile.Accounts {
		unresolved[e] = a.Unresolved
		skipped[e] = a.Profiled - a.Unresolved - t.sum(0, e)
	}
	t.rest = []rankingRow{
		{counts: skipped, name: "<left out by --skip-interpreter or --skip-vm-stubs>"},
		{counts: unresolved, name: "<addresses of unknown code>"},
	}
}

// nativeTable returns the table of native functions.
func nativeTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Hottest Native Functions", more: "warm function"}
	for i := range v.Profile.Native {
		t.addNative(&v.Profile.Native[i])
	}
	return t
}

// sourceTable returns the table with the samples of each compiler, each library and the kernel.
func sourceTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Distribution by Source", more: "source", all: true}
	for _, s := range v.Profile.Sources {
		t.add(s.Counts, func() rankingRow { return rankingRow{name: s.Source, native: true} })
	}
	return t
}
