// Package top is the model of gasm top: where the CPU time of running JVMs goes, now and in the last seconds. It knows
// neither processes nor terminals. Package top/live passes it the data from a recording of the JVMs, and package
// top/view draws it.
//
//	m := top.NewModel()
//	m.SetJVMs(jvms)
//	s := m.NewSegment()     // a recording writes samples, code and stacks to it
//	m.Tick(monotonic.Nanos()) // once a second
//	p := m.Picture(top.Last(10))
//	rows := p.Methods(top.Scope{})
//
// # How a sample gets into a picture
//
// A [Segment] only keeps the data that a recording delivers. [Model.Tick] resolves the samples since the previous Tick.
// Each sample becomes a key, which has the code or the native function, the address, the thread and the stack. The
// sample is then counted in the bucket of the present second. A sample is resolved again only if its code was not known
// yet. [Model.Picture] sums up the buckets of some seconds. The tables of a [Picture] are computed from these sums, and
// only when they are shown.
//
// The code of a method is decoded when it is first needed, and kept. If HotSpot compiles a method again, that is
// another [Code]. Everything that is kept has a limit (limits.go), so that the memory of a view that stays open for
// days does not grow.
package top
