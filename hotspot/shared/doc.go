// Package shared lets several readers look at the same running JVM: the Follower, which writes the code of its methods
// to a log, and the Walker, which walks its stacks. A poll of the JVM's code cache serves both, so they agree on the
// names and addresses of methods.
//
//	jvms := shared.NewJVMs()
//	v, err := jvms.Open(pid)              // a view of the JVM; the first call opens the JVM
//	changes, took, err := v.Poll(since)   // what has changed for this view, as of the time since or later
//	b, ambiguous := v.Cache.At(pc, then)  // never waits for the JVM
//	v.Copy(func(c *nmethod.Copier) { … }) // one at a time
//	v.Close()
package shared
