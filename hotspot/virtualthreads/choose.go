package virtualthreads

import "math"

// A choice holds the threads that were chosen for one count.
type choice struct {
	c         *Counter
	looks     []*look
	size      int64 // number of threads in all sets together
	untracked int
	seen      map[uint64]bool // addresses of threads and scopes that are already in the choice
}

// A container is a set of threads.
type container struct {
	set    uint64
	weight float64 // number of sets that it represents
}

// choose chooses virtual threads at random: about as many as the parameter most says, or all if there are fewer. The
// weight of a chosen thread is the number of threads that it represents.
//
// Nearly all threads can be found from the class ThreadContainers. It has a set of the threads that were started
// directly, and a set of executors, each of which has a set of its own threads. Threads of structured concurrency are
// in the set of a ThreadFlock, which is in a list of the thread that opened it.
func (c *Counter) choose(most int) *choice {
	c.findRoots()
	l := c.layout
	r := &choice{c: c, seen: map[uint64]bool{}}
	var all []container
	if l.tracked != 0 {
		all = append(all, container{l.tracked, 1})
	}
	if l.counted != 0 {
		if data := c.copies([]uint64{l.counted}, max(l.stripeBase, l.stripes)+8)[0]; data != nil {
			n := c.sum(le64(data, l.stripeBase), c.heap.RefIn(data, l.stripes), l.stripe)
			r.untracked = int(min(n, math.MaxInt32))
		}
	}
	if l.registry != 0 {
		all = append(all, c.executors(max(most/4, 1))...)
	}
	flocks := c.classes.Class(flockScopeClass) != 0
	if flocks {
		all = append(all, r.flocks(c.platformThreads(maxOwners))...)
	}
	r.add(all, most)
	for n := 0; flocks && n < maxNested && len(r.looks) < 2*most; n++ {
		inner := r.flocks(r.owners())
		if len(inner) == 0 {
			break
		}
		r.add(inner, most)
	}
	return r
}

const (
	// maxNested is the maximum depth of nested structured concurrency.
	maxNested = 8
	// maxOwners is the maximum number of platform threads whose lists of scopes are read.
	maxOwners = 1 << 10
	// maxScopes is the maximum number of scopes of a thread.
	maxScopes = 16
)

// executors chooses executors and other containers at random, and returns the set of threads of each. The parameter
// most limits the number of these sets, though not exactly.
func (c *Counter) executors(most int) (all []container) {
	l := c.layout
	s := c.sampleSet(l.registry, most)
	var containers []uint64
	for _, reference := range c.copies(s.elements, l.referent+8) {
		containers = append(containers, c.heap.RefIn(reference, l.referent))
	}
	executor, shared := c.classes.Class(executorClass), c.classes.Class(sharedClass)
	for _, data := range c.copies(containers, max(l.executor, l.shared)+8) {
		var set uint64
		switch of := c.heap.ClassIn(data); {
		case of == 0:
		case of == executor:
			set = c.heap.RefIn(data, l.executor)
		case of == shared:
			set = c.heap.RefIn(data, l.shared)
		}
		if set != 0 {
			all = append(all, container{set, s.weight})
		}
	}
	return all
}

// An owner is a thread that may have opened scopes of structured concurrency.
type owner struct {
	scopes uint64 // address of the scope that was opened last
	weight float64
}

// platformThreads returns some platform threads that have opened scopes, chosen at random. It returns at most as many
// as the parameter most says.
func (c *Counter) platformThreads(most int) (owners []owner) {
	all, err := c.java.Addresses()
	if err != nil {
		return nil
	}
	c.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	some := all[:min(len(all), most)]
	var objects []uint64
	for _, at := range some {
		object, _ := c.java.Object(at) // 0 after an error
		objects = append(objects, object)
	}
	weight := float64(len(all)) / float64(max(len(some), 1))
	for _, thread := range c.copies(objects, c.layout.scopes+8) {
		if scopes := c.heap.RefIn(thread, c.layout.scopes); scopes != 0 {
			owners = append(owners, owner{scopes, weight})
		}
	}
	return owners
}

// owners returns the virtual threads chosen so far that have opened scopes.
func (r *choice) owners() (owners []owner) {
	l := r.c.layout
	for i, thread := range r.c.copies(addresses(r.looks), l.scopes+8) {
		if scopes := r.c.heap.RefIn(thread, l.scopes); scopes != 0 {
			owners = append(owners, owner{scopes, r.looks[i].weight})
		}
	}
	return owners
}

// flocks returns the sets of threads that belong to the scopes of the owners.
func (r *choice) flocks(owners []owner) (all []container) {
	c, l := r.c, r.c.layout
	class := c.classes.Class(flockScopeClass)
	size := max(l.previous, l.flock) + 8
	for range maxScopes {
		var next []owner
		var flocks []uint64
		var weights []float64
		scopes := make([]uint64, len(owners))
		for i := range owners {
			scopes[i] = owners[i].scopes
		}
		for i, data := range c.copies(scopes, size) {
			if data == nil || r.seen[scopes[i]] {
				continue
			}
			r.seen[scopes[i]] = true
			if c.heap.ClassIn(data) == class {
				flocks, weights = append(flocks, c.heap.RefIn(data, l.flock)), append(weights, owners[i].weight)
			}
			if previous := c.heap.RefIn(data, l.previous); previous != 0 {
				next = append(next, owner{previous, owners[i].weight})
			}
		}
		for i, data := range c.copies(flocks, l.flockThreads+8) {
			if set := c.heap.RefIn(data, l.flockThreads); set != 0 {
				all = append(all, container{set, weights[i]})
			}
		}
		if owners = next; len(owners) == 0 {
			break
		}
	}
	return all
}

// add adds threads of these containers to the choice: in all about as many as the parameter most says, and from each
// container a number in proportion to its size.
func (r *choice) add(all []container, most int) {
	c := r.c
	total := 0.0
	sizes := make([]int64, len(all))
	for i := range all {
		sizes[i] = c.sizeOf(all[i].set)
		total += float64(sizes[i])
	}
	for i := range all {
		if sizes[i] == 0 {
			continue
		}
		part := min(float64(most)*float64(sizes[i])/total, float64(most))
		s := c.sampleSet(all[i].set, int(math.Ceil(part)))
		r.size += int64(whole(float64(s.size) * all[i].weight))
		for _, thread := range s.elements {
			if len(r.looks) >= maxLooks {
				return
			}
			if thread != 0 && !r.seen[thread] {
				r.seen[thread] = true
				r.looks = append(r.looks, &look{at: thread, weight: s.weight * all[i].weight})
			}
		}
	}
}

// maxLooks is the maximum number of threads that are read for one count.
const maxLooks = 1 << 16

// sizeOf returns the number of elements of a set.
func (c *Counter) sizeOf(set uint64) int64 {
	l := c.layout
	at := c.copies([]uint64{set}, l.view+8)[0]
	data := c.one(c.heap.RefIn(at, l.view), l.hashMap, mapClass)
	return c.sum(le64(data, l.base), c.heap.RefIn(data, l.cells), l.cell)
}
