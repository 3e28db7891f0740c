// Package watch profiles the JVMs of a machine for ever: those that run, and those that start later. Every few seconds
// it makes a profile of each JVM that had samples, and gives it to the queues of all destinations (package push).
//
// The JVMs are recorded as for gasm top, by package top/live, and their samples are resolved by a [top.Model]:
//
//	top/live ─samples, code, stacks─▶ top.Model ─TakeSettled─▶ a profile of each JVM ─report/stacks─▶ pprof ─▶ push.Queue
//
// All that is kept is limited, by package top and by the queues. A recording writes files, too; it is replaced by the next
// one when they are large.
package watch
