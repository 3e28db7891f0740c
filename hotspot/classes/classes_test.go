package classes

import (
	"encoding/binary"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
)

// A fakeJVM is the memory of a HotSpot JVM with two class loaders, laid out as in JDK 8 or 17.
type fakeJVM struct {
	*vmtest.Memory
	symbols vmtest.Symbols
	begin   int // offset in Data of the first structure that the test reads
	// Addresses of the class One, of the dictionary, and of the last loader or entry.
	one, dictionary, last uint64

	gone  error // if not nil, ReadAt returns this error after the number of reads in the field reads
	reads int
}

// ReadAt implements io.ReaderAt. It fails when the JVM is gone.
func (j *fakeJVM) ReadAt(buf []byte, addr int64) (int, error) {
	if j.gone != nil {
		if j.reads--; j.reads < 0 {
			return 0, j.gone
		}
	}
	return j.Memory.ReadAt(buf, addr)
}

// fakeFields are the offsets and types of the fields that both releases have.
var fakeFields = map[string]struct {
	at       uint64
	typeName string
}{
	"Klass::_name": {0, "Symbol*"}, "Klass::_layout_helper": {8, "int"}, "Klass::_access_flags": {12, "AccessFlags"},
	"InstanceKlass::_methods": {16, "Array<Method*>*"}, "InstanceKlass::_class_loader_data": {24, "ClassLoaderData*"},
	"Klass::_next_link":   {32, "Klass*"},
	"Array<int>::_length": {0, "int"}, "Array<Method*>::_data": {8, "Method*"},
	"Method::_constMethod": {0, "ConstMethod*"}, "Method::_access_flags": {8, "AccessFlags"},
	"ConstMethod::_constants": {0, "ConstantPool*"}, "ConstMethod::_name_index": {8, "u2"},
	"ConstMethod::_signature_index": {10, "u2"},
	"Symbol::_length":               {0, "u2"}, "Symbol::_body": {2, "u1"},
	"ClassLoaderData::_klasses": {0, "Klass*"}, "ClassLoaderData::_next": {8, "ClassLoaderData*"},
	"BasicHashtable<mtInternal>::_table_size": {0, "int"},
	"BasicHashtable<mtInternal>::_buckets":    {8, "HashtableBucket<mtInternal>*"},
	"BasicHashtableEntry<mtInternal>::_next":  {0, "BasicHashtableEntry<mtInternal>*"},
	"IntptrHashtableEntry::_literal":          {8, "intptr_t"},
	"DictionaryEntry::_loader_data":           {16, "ClassLoaderData*"},
}

func newFakeJVM(release int) *fakeJVM {
	j := &fakeJVM{Memory: vmtest.New()}
	j.begin = len(j.Data)
	one := j.addClass("org/acme/One", 1, 7, "run", "()V", "<init>", "(ILjava/lang/String;)V")
	array := j.addClass("[I", -5, 7)
	two := j.addClass("org/acme/Two", 0x20, 8, "stop", "()V")
	tables := vmtest.Tables{Offsets: map[string]uint64{}, Statics: map[string]uint64{}, Types: map[string]string{},
		Ints: map[string]int32{},
		Sizes: map[string]uint64{"int": 4, "u2": 2, "u1": 1, "AccessFlags": 4, "intptr_t": 8, "InstanceKlass": 40,
			"Method": 16, "ConstMethod": 16, "ConstantPool": 8}}
	for name, f := range fakeFields {
		tables.Offsets[name], tables.Types[name] = f.at, f.typeName
	}
	static := func(name, typeName string, at uint64) { tables.Statics[name], tables.Types[name] = at, typeName }
	j.one = one
	if release == 8 {
		second := j.AddUint64(0, two, 8)
		other := j.AddUint64(second|1, one, 8) // the entry of another loader that was asked for the class One
		first := j.AddUint64(0, one, 7)
		buckets := j.AddUint64(first, 0, other|1)
		j.dictionary, j.last = j.AddUint64(3, buckets), second
		static("SystemDictionary::_dictionary", "Dictionary*", j.AddUint64(j.dictionary))
		static("CodeCache::_heap", "CodeHeap*", j.AddUint64(0))
	} else {
		j.link(one, array)
		last := j.AddUint64(two, 0)
		j.last = last
		static("ClassLoaderDataGraph::_head", "ClassLoaderData*", j.AddUint64(j.AddUint64(one, last)))
		static("Abstract_VM_Version::_vm_major_version", "int", j.AddUint64(uint64(release)))
	}
	j.symbols = j.AddTables(tables)
	return j
}

func (j *fakeJVM) addSymbol(text string) uint64 {
	return j.Add(append(binary.LittleEndian.AppendUint16(nil, uint16(len(text))), text...)...)
}

// addClass adds a class of a loader. The names and descriptors of its methods alternate in methods.
func (j *fakeJVM) addClass(name string, helper int32, loader uint64, methods ...string) uint64 {
	array := []uint64{uint64(len(methods) / 2)}
	for i := 0; i < len(methods); i += 2 {
		pool := j.AddUint64(0, 0, j.addSymbol(methods[i])|1, j.addSymbol(methods[i+1]))
		constMethod := j.AddUint64(pool, 1|2<<16)
		array = append(array, j.AddUint64(constMethod, uint64(Static)))
	}
	return j.AddUint64(j.addSymbol(name), uint64(uint32(helper))|(1<<16|uint64(Interface))<<32,
		j.AddUint64(array...), loader, 0)
}

func (j *fakeJVM) link(klass, next uint64) {
	binary.LittleEndian.PutUint64(j.Data[klass-vmtest.Base+32:], next)
}

func all(string) bool { return true }

func TestReadFake(t *testing.T) {
	for _, release := range []int{8, 17} {
		j := newFakeJVM(release)
		vm, err := vmstructs.New(j, j.symbols.Address)
		require.NoError(t, err)
		found, err := Read(vm, all)
		require.NoError(t, err)
		assert.Equal(t, []Class{
			{Name: "org/acme/One", Flags: Interface,
				Methods: []Method{{"run", "()V", Static}, {"<init>", "(ILjava/lang/String;)V", Static}}},
			{Name: "org/acme/Two", Flags: Interface, Methods: []Method{{"stop", "()V", Static}}},
		}, found)
		found, err = Read(vm, func(class string) bool { return class == "org/acme/Two" })
		require.NoError(t, err)
		assert.Len(t, found, 1)
	}
}

// put writes an eight-byte number.
func (j *fakeJVM) put(at, number uint64) {
	binary.LittleEndian.PutUint64(j.Data[at-vmtest.Base:], number)
}

func (j *fakeJVM) number(at uint64) uint64 {
	return binary.LittleEndian.Uint64(j.Data[at-vmtest.Base:])
}

// TestReadDamaged: a damaged class is left out, and all others are found. Read returns an error if a list is damaged
// so that it can't be followed to its end, or if the JVM has ended.
func TestReadDamaged(t *testing.T) {
	two := []Class{{Name: "org/acme/Two", Flags: Interface, Methods: []Method{{"stop", "()V", Static}}}}
	for name, damage := range map[string]func(j *fakeJVM){
		"too many methods": func(j *fakeJVM) { j.put(j.number(j.one+16), maxMethods+1) },
		"no methods":       func(j *fakeJVM) { j.put(j.one+16, 0) },
		"lost methods":     func(j *fakeJVM) { j.put(j.one+16, 8) },
		"a lost method":    func(j *fakeJVM) { j.put(j.number(j.one+16)+8, 8) },
		"a lost name":      func(j *fakeJVM) { j.put(j.one, 8) },
		"a lost body":      func(j *fakeJVM) { j.put(j.number(j.number(j.one+16)+8), 8) },
	} {
		for _, release := range []int{8, 17} {
			j := newFakeJVM(release)
			damage(j)
			vm, err := vmstructs.New(j, j.symbols.Address)
			require.NoError(t, err)
			found, err := Read(vm, all)
			require.NoError(t, err, name)
			assert.Equal(t, two, found, "%s, JDK %d", name, release)
		}
	}
	j := newFakeJVM(8)
	j.put(j.dictionary, maxClasses+1)
	vm, err := vmstructs.New(j, j.symbols.Address)
	require.NoError(t, err)
	_, err = Read(vm, all)
	assert.EqualError(t, err, "reading the list of classes: the system dictionary can't have 1048577 lists")

	for _, gone := range []error{syscall.ESRCH, syscall.EPERM} {
		for _, release := range []int{8, 17} {
			j := newFakeJVM(release)
			vm, err := vmstructs.New(j, j.symbols.Address)
			require.NoError(t, err)
			j.gone, j.reads = gone, 8 // the JVM ends after eight reads
			_, err = Read(vm, all)
			require.ErrorIs(t, err, gone, "JDK %d", release)
		}
	}
}

// TestReadLoops: Read returns even if a damaged list leads back to an earlier element, or a loader's pointer to the
// next loader points to itself.
func TestReadLoops(t *testing.T) {
	for _, release := range []int{8, 17} {
		j := newFakeJVM(release)
		if release == 8 {
			j.put(j.last, j.last|1) // the next entry is the last one itself
		} else {
			j.link(j.one, j.one)
			j.put(j.last+8, j.last)
		}
		vm, err := vmstructs.New(j, j.symbols.Address)
		require.NoError(t, err)
		found, err := Read(vm, all)
		require.NoError(t, err)
		assert.Len(t, found, 2)
	}
}

// TestReadLongNames: a name may be as long as a class file allows, and the mapped memory may end right after a short
// name.
func TestReadLongNames(t *testing.T) {
	for _, length := range []int{1, 61, 62, 63, 64, 65535} {
		j := newFakeJVM(17)
		name := strings.Repeat("n", length)
		j.put(j.one, j.addSymbol(name))
		vm, err := vmstructs.New(j, j.symbols.Address)
		require.NoError(t, err)
		found, err := Read(vm, func(class string) bool { return class == name })
		require.NoError(t, err)
		assert.Len(t, found, 1, length)
	}
	j := newFakeJVM(17)
	j.Data = append(j.Data, make([]byte, -len(j.Data)&0xfff)...)
	j.Data = append(j.Data, make([]byte, 0x1000-8)...)
	j.put(j.one, j.addSymbol("atend"))
	vm, err := vmstructs.New(j, j.symbols.Address)
	require.NoError(t, err)
	found, err := Read(vm, func(class string) bool { return class == "atend" })
	require.NoError(t, err)
	assert.Len(t, found, 1)
}

// TestFinder finds classes of the last loader in the list: first all that are loaded, then those that were loaded
// later.
func TestFinder(t *testing.T) {
	j := newFakeJVM(17)
	vm, err := vmstructs.New(j, j.symbols.Address)
	require.NoError(t, err)
	f, err := NewFinder(vm, "org/acme/One", "org/acme/Two", "org/acme/Three")
	require.NoError(t, err)
	update := func() bool {
		found, err := f.Update()
		require.NoError(t, err)
		return found
	}
	assert.True(t, update())
	two := f.Class("org/acme/Two")
	assert.NotZero(t, two)
	assert.Zero(t, f.Class("org/acme/One"), "it belongs to another loader")
	assert.Zero(t, f.Class("org/acme/Three"), "it is not loaded")
	assert.False(t, update())

	other := j.addClass("org/acme/Other", 1, 8)
	j.link(other, two)
	j.put(j.last, other)
	assert.False(t, update())
	three := j.addClass("org/acme/Three", 1, 8)
	j.link(three, other)
	j.put(j.last, three)
	assert.True(t, update())
	assert.Equal(t, []uint64{two, three}, []uint64{f.Class("org/acme/Two"), f.Class("org/acme/Three")})

	j.gone, j.reads = syscall.ESRCH, 0
	_, err = f.Update()
	assert.ErrorIs(t, err, syscall.ESRCH)
	old := newFakeJVM(8)
	vm, err = vmstructs.New(old, old.symbols.Address)
	require.NoError(t, err)
	_, err = NewFinder(vm)
	assert.Error(t, err)
}

// FuzzRead reads memory in which bytes have been changed. A change is an address and the new byte.
func FuzzRead(f *testing.F) {
	jvms := map[int]*fakeJVM{8: newFakeJVM(8), 17: newFakeJVM(17)}
	whole := map[int][]byte{}
	for release, j := range jvms {
		whole[release] = slices.Clone(j.Data)
		for at := j.begin; at < j.begin+600; at += 8 {
			f.Add(release, []byte{byte(at), byte(at >> 8), 0xff})
			f.Add(release, []byte{byte(at), byte(at >> 8), 0, byte(at + 2), byte((at + 2) >> 8), 3})
		}
	}
	f.Fuzz(func(t *testing.T, release int, patches []byte) {
		j := jvms[release]
		if j == nil {
			return
		}
		j.Data = append(j.Data[:0], whole[release]...)
		vm, err := vmstructs.New(j, j.symbols.Address)
		require.NoError(t, err)
		for ; len(patches) >= 3; patches = patches[3:] {
			if at := int(patches[0]) | int(patches[1])<<8; at < len(j.Data) {
				j.Data[at] = patches[2]
			}
		}
		found, _ := Read(vm, all) // this checks that Read returns, and how much it reads
		methods := 0
		for _, c := range found {
			methods += len(c.Methods)
		}
		require.LessOrEqual(t, methods, maxAllMethods)
		if finder, err := NewFinder(vm, "org/acme/One", "org/acme/Two"); err == nil {
			_, _ = finder.Update() // this checks that Update returns
		}
	})
}
