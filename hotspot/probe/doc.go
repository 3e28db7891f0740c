// Package probe has gasm's agent for the JVM, and says what it is to do.
//
// The agent (agent/ has its sources, `make agent` builds it into agent.jar here) changes the methods that are chosen, and no others,
// so that they tell of their entries, exits, locks and allocations. Package event/rings reads what they tell.
//
// A JVM gets it by -javaagent at its start ([StartOption]), or through its attach socket while it runs ([Load], [Unload]).
// Both take a prefix of file names: PREFIXagent.jar is the agent, PREFIXagent.classes has its classes for JDK 9 and newer, PREFIXsites.so is what each JVM makes a copy of where other tracers
// are to see probes (package sdt), and PREFIXprobes says what is probed, in lines with tabs between the fields:
//
//	folder  /tmp/gasm-123/5f3a…                        where the JVMs' files are made
//	rings   65536  131072  536870912                   events in a thread's ring, windows in one, bytes of a JVM's file
//	method  Svc::tiny(int)  Svc  tiny  int  window     kind, what the user wrote, class, method, argument types or -, options or -
package probe
