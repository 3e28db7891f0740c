package sites

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
)

// A Wait is a place in the program at which threads waited for a lock that another thread had, or were parked.
type Wait struct {
	Frame event.Frame // where threads waited; without Method if the recording has no stacks
	Class string      // the class of what they waited for
	Owner string      // name of the thread that held the lock in most waits, without its number; "" if unknown
	Count int
	// Nanos is the sum of all waits, and LongestNanos is the longest wait.
	Nanos, LongestNanos int64
	// Stacks are the stacks of the threads that waited there, those with the longest time first. Their Weight is in ns.
	Stacks []Stack

	owners map[string]int
	stacks stackCounts
}

// A waitKey tells places of waits apart.
type waitKey struct {
	frame event.Frame
	class string
}

// maxOwners limits the number of owners of a lock that are told apart. Waits for further owners do not decide
// [Wait.Owner].
const maxOwners = 10

// addWait adds an event to the Wait of its place, which is the first frame of stack.
func (t *Counter) addWait(waits *map[waitKey]*Wait, e *event.Event, stack []event.Frame) {
	key := waitKey{byLine(first(stack)), e.Name}
	s := (*waits)[key]
	if s == nil {
		if len(*waits) >= maxSites {
			return
		}
		if *waits == nil {
			*waits = map[waitKey]*Wait{}
		}
		s = &Wait{Frame: first(stack), Class: key.class, owners: map[string]int{}}
		(*waits)[key] = s
	}
	s.Count++
	s.Nanos += e.Nanos
	s.LongestNanos = max(s.LongestNanos, e.Nanos)
	t.addStack(&s.stacks, stack, e.Truncated, e.Nanos, 1)
	owner := strings.TrimRight(e.Arg("previousOwner"), "0123456789")
	if _, ok := s.owners[owner]; owner != "" && (ok || len(s.owners) < maxOwners) {
		s.owners[owner]++
	}
}

// Locks returns the places at which threads waited for locks, those with the longest time first.
func (t *Counter) Locks() []Wait { return waits(t.locks) }

// Parks returns the places at which threads waited for something else, those with the longest time first.
func (t *Counter) Parks() []Wait { return waits(t.parks) }

func waits(all map[waitKey]*Wait) []Wait {
	sites := make([]Wait, 0, len(all))
	for _, s := range all {
		site := *s
		for owner, n := range s.owners {
			if best := s.owners[site.Owner]; n > best || n == best && owner < site.Owner {
				site.Owner = owner
			}
		}
		site.owners = nil
		site.Stacks, site.stacks = s.stacks.sorted(), nil
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Count, a.Count), compareFrames(a.Frame, b.Frame),
			cmp.Compare(a.Class, b.Class))
	})
	return sites
}
