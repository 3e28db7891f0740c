// Package numbers gives numbers to native functions and to contexts. Samples are counted by these numbers, so the keys
// of the counts are small.
package numbers

import (
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Function is native code: a function of a file or of the kernel.
type Function struct{ Module, Symbol string }

// UnknownModule is the Module of native code that is in no known file. Its addresses are far from the code cache, so it
// is not HotSpot's code.
const UnknownModule = "[unknown]"

// A Functions numbers the native functions of all samples.
type Functions struct {
	list  []Function
	index map[Function]int32 // in list
}

// maxFunctions limits the number of native functions of all samples. A libjvm.so has 60,000 symbols. Further functions
// are counted together, without their names.
const maxFunctions = 1 << 17

// NewFunctions returns an empty table.
func NewFunctions() *Functions { return &Functions{index: map[Function]int32{}} }

// Find returns the number of a native function. It adds the function if it is new. If there are too many functions, it
// returns the number of a function without a name, and false.
func (t *Functions) Find(module, symbol string) (i int32, named bool) {
	f := Function{module, symbol}
	i, named = t.index[f]
	if named {
		return i, true
	}
	named = len(t.list) < maxFunctions
	if !named {
		if f.Symbol = ""; module != sampler.KernelModule {
			f.Module = UnknownModule
		}
		if i, ok := t.index[f]; ok {
			return i, false
		}
	}
	i = int32(len(t.list))
	t.list = append(t.list, f)
	t.index[f] = i
	return i, named
}

// Len returns how many functions there are. Their numbers are 0 to Len-1.
func (t *Functions) Len() int { return len(t.list) }

// At returns the function with a given number.
func (t *Functions) At(i int32) Function { return t.list[i] }

// A Context tells samples at the same address apart: by the thread that they were in, and by the events that were
// going on.
type Context struct {
	Label  int32 // number in threads.Table
	Events events.Set
}

// A Contexts numbers the contexts of all samples. The first one has no thread and no events.
type Contexts struct {
	list  []Context
	index map[Context]int32 // in list
}

// maxContexts limits the number of contexts. A context is the thread of a sample with the events that were going on.
// Once the limit is reached, a sample whose context is new gets the context of its thread without any events. If the
// table does not have that context either, the sample gets the first context.
const maxContexts = 1 << 12

// NewContexts returns a table that has only the context without a thread and without events. Its number is 0.
func NewContexts() *Contexts {
	return &Contexts{list: []Context{{}}, index: map[Context]int32{{}: 0}}
}

// Find returns the number of a context. It adds the context if it is new. If there are too many contexts, it returns
// the number of the context with the same thread and no events. If there is no such context, it returns 0.
func (t *Contexts) Find(c Context) int32 {
	for _, c := range []Context{c, {c.Label, 0}} {
		if i, ok := t.index[c]; ok {
			return i
		}
		if len(t.list) < maxContexts {
			i := int32(len(t.list))
			t.list = append(t.list, c)
			t.index[c] = i
			return i
		}
	}
	return 0
}

// At returns the context with a given number.
func (t *Contexts) At(i int32) Context {
	if t == nil {
		return Context{}
	}
	return t.list[i]
}
