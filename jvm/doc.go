// Package jvm knows how a command becomes JVMs: how capture flags reach every
// JVM that the command starts, which processes these are, how their clocks
// relate, and from when to when they are to be measured.
//
// A [Launch] runs the command unchanged. Capture flags travel in
// JAVA_TOOL_OPTIONS, which each JVM in the command's process tree reads, so
// forks of JMH, Maven or a shell script are captured too; the JVM says so
// itself on stderr ("Picked up JAVA_TOOL_OPTIONS: …"). The process is held in
// front of its exec until [Launch.Release], so that a sampler can be attached
// to it first and misses nothing.
//
// The command's stdout passes through a [Watcher] on its way, which notes when
// a line that begins or ends a measurement arrives. All else, stdin, stderr,
// the terminal, signals and the exit code, is the command's own.
package jvm
