package virtualthreads

import (
	"math"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

const (
	// maxSlots is the maximum number of slots of a hash table that are read. Tables do not shrink, so a table with few
	// elements may be large. If a table has more slots, only a random choice of them is read.
	maxSlots = 1 << 20
	// maxChain is the maximum number of elements in one slot. The ids of threads are spread evenly, so a slot rarely
	// has more than a handful.
	maxChain = 64
	// At most 8*most+leastElements elements of a set are read, where most is the number of wanted elements. A map
	// reaches this limit only if the size that it states is wrong.
	leastElements = 1 << 10
	// maxTable is the maximum number of slots in a table (ConcurrentHashMap.MAXIMUM_CAPACITY).
	maxTable = 1 << 30
)

// A sample holds randomly chosen elements of a set. Each represents as many elements as the field weight says.
type sample struct {
	elements []uint64
	weight   float64
	size     int64 // number of elements in the whole set
}

// sampleSet chooses random elements of a set that was made by ConcurrentHashMap.newKeySet. It returns about as many as
// the parameter most says, or all elements if there are fewer.
func (c *Counter) sampleSet(set uint64, most int) (s sample) {
	l := c.layout
	at := c.copies([]uint64{set}, l.view+8)[0]
	data := c.one(c.heap.RefIn(at, l.view), l.hashMap, mapClass)
	if data == nil {
		return s
	}
	s.size = c.sum(le64(data, l.base), c.heap.RefIn(data, l.cells), l.cell)
	table := c.heap.RefIn(data, l.table)
	length, first, err := c.heap.Refs(table)
	if table == 0 || err != nil || length == 0 || length > maxTable || most <= 0 {
		return s
	}
	heads, part := c.slots(first, length, s.size, most)
	var larger uint64
	limit := 8*most + leastElements
	s.elements, larger = c.follow(heads, limit)
	if length, first, err := c.heap.Refs(larger); larger != 0 && err == nil && length > 0 && length <= maxTable {
		heads, _ := c.slots(first, length, s.size, most) // about the same part as of the smaller table
		more, _ := c.follow(heads, limit)
		s.elements = append(s.elements, more...)
	}
	s.weight = 1
	if found := float64(len(s.elements)); part < 1 && found > 0 {
		s.weight = max(float64(s.size)/found, 1)
	}
	return s
}

// slots reads some slots of a hash table. It returns the first node in each of these slots, and which part of the table
// was read. elements is the number of elements in the table. If the table has no more elements than the parameter most
// says, and no more than maxSlots slots, slots reads all of it. Otherwise it reads runs of neighbouring slots. In a
// nearly empty table, a run is so long that it has about one element. The table is divided into as many equal parts as
// there are runs, and each run is at a random place in its part. The runs are spread over the table, because threads
// that were created one after the other are in neighbouring slots, and kinds of threads may alternate.
func (c *Counter) slots(first, length uint64, elements int64, most int) (heads []uint64, part float64) {
	size := c.heap.RefSize()
	if n := uint64(max(elements, 1)); n <= uint64(most) && length <= maxSlots {
		data, err := c.vm.Read(nil, first, length*size)
		if err != nil {
			return nil, 1
		}
		return c.refsIn(data), 1
	}
	filled := max(float64(elements), 1) / float64(length) // elements per slot
	run := uint64(min(max(1/filled, 1), float64(max(maxSlots/most, 1))))
	runs := min(uint64(math.Ceil(float64(most)/(filled*float64(run)))), length/run, maxSlots/run)
	blocks := (length + run - 1) / run
	begin := c.random.Uint64N(blocks) // a random start makes each block equally likely
	pieces := make([]vmstructs.Piece, runs)
	for i := range pieces {
		lo, hi := uint64(i)*blocks/runs, uint64(i+1)*blocks/runs
		from := (begin + lo + c.random.Uint64N(hi-lo)) % blocks * run
		pieces[i] = vmstructs.Piece{Addr: first + from*size, Buf: make([]byte, min(run, length-from)*size)}
	}
	for i, read := range c.gather(pieces) {
		if read {
			heads = append(heads, c.refsIn(pieces[i].Buf)...)
		}
	}
	return heads, float64(runs*run) / float64(length)
}

// follow returns the elements in the lists that begin with these nodes. While Java replaces the table with a larger
// one, some elements are in the larger table already; then follow returns the larger table's address, too. It reads at
// most limit nodes at a time, and stops when it has limit elements.
func (c *Counter) follow(nodes []uint64, limit int) (elements []uint64, larger uint64) {
	l := c.layout
	class := c.classes.Class
	node, treeNode := class(nodeClass), class(treeNodeClass)
	treeBin, forwarding := class(treeBinClass), class(forwardingClass)
	seen := map[uint64]bool{}
	for range maxChain {
		nodes = some(nodes, seen)
		nodes = nodes[:min(len(nodes), limit)]
		if len(nodes) == 0 || len(elements) >= limit {
			break
		}
		var next []uint64
		for _, data := range c.copies(nodes, l.nodeEnd) {
			switch of := c.heap.ClassIn(data); {
			case of == 0:
			case of == node, of == treeNode:
				elements = append(elements, c.heap.RefIn(data, l.key))
				next = append(next, c.heap.RefIn(data, l.next))
			case of == treeBin:
				next = append(next, c.heap.RefIn(data, l.first))
			case of == forwarding:
				larger = c.heap.RefIn(data, l.nextTable)
			}
		}
		nodes = next
	}
	return elements, larger
}

// The function some returns the addresses that are neither 0 nor in the map seen, and adds them to that map.
func some(all []uint64, seen map[uint64]bool) (some []uint64) {
	for _, at := range all {
		if at != 0 && !seen[at] {
			seen[at] = true
			some = append(some, at)
		}
	}
	return some
}
