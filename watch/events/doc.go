// Package events makes profiles of a JVM's events, such as waits for locks. It reads them from dumps of a Flight
// Recorder recording that is still running.
//
//	dump, dump … ─Reader.Add─▶ a Sum of each kind of events, by stacks ─Reader.Take─▶ Sum.Pprof ─▶ pprof
//
// A dump has most of what the previous dump had, because a JVM removes only whole chunks, and only old ones. A
// [Reader] counts each chunk once.
package events
