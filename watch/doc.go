// Package watch continuously profiles all JVMs of a machine, also those that start later. Every few seconds it makes a
// profile of each JVM that had samples, and adds it to the queue of each destination (package push).
//
// The JVMs are recorded as for gasm top, by package top/live, and their samples are resolved by a [top.Model]:
//
//	top/live ─samples, code, stacks─▶ top.Model ─TakeSettled─▶ a profile of each JVM ─report/stacks─▶ pprof ─▶ push.Queue
//
// If the user wants profiles of events, each JVM also records events with Flight Recorder. Its recording is dumped once
// in each interval (package record/jvmevents), and package watch/events makes the profiles.
//
// The memory used is limited, by package top and by the queues. A recording also writes files; when they are large,
// gasm ends the recording, removes them and starts the next one.
package watch
