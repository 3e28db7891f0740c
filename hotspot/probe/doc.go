// Package probe contains gasm's agent for the JVM, loads it into JVMs, and tells it what to probe.
//
// The agent changes the chosen methods so that they record their entries, exits, locks and
// allocations. It changes no other methods. Package event/rings reads what was recorded. The
// agent's sources are in the folder agent/, and `make agent` builds agent.jar from them.
//
// A JVM gets the agent by the option -javaagent at its start ([StartOption]), or through its attach socket while it
// runs ([Load], [Session.Unload]). In both cases the agent gets a prefix of file names:
//
//	PREFIXagent.jar      the agent
//	PREFIXagent.classes  its classes, as JDK 9 and newer load them
//	PREFIXsites.so       a shared object, copied by each JVM, in which other tracers find probes (package sdt)
//	PREFIXprobes         the list of what to probe: lines with tabs between the fields
//
// The lines of PREFIXprobes:
//
//	folder  /tmp/gasm-123/5f3a…  /tmp/gasm-123        folders for the JVMs' files, and for their shared objects
//	rings   32768  32768  536870912                   events and windows in a thread's two rings, bytes of the file
//	method  Svc::tiny(int)  Svc  tiny  int  window    kind, the user's text, class, method, argument types, options
//
// Argument types or options that are missing are written as a hyphen.
package probe
