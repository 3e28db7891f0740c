// Package stacks writes profiles in the formats of tools that show stacks: pprof's, and collapsed stacks for flame
// graphs. Both are made of the profile's Locations: program counters with the methods that were inlined there, and the
// call stacks below them, if the capture has any.
package stacks
