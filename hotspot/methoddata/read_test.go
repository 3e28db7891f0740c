package methoddata

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
)

// A fakeJVM is the memory of a HotSpot with one method that has a MethodData.
type fakeJVM struct {
	*vmtest.Memory
	vm     *vmstructs.VM
	method Method
	data   uint64 // the address of the MethodData
	size   int    // size of the records in bytes
}

// The layout of the fake MethodData: _method at 8, _size at 16, traps at 32, _data_size, and the records at the end.
const fakeRecords = 160

// bytecode is aload_0; instanceof; ifeq; aload_0; invokevirtual; fast_aload_0; invokestatic; return.
var bytecode = []byte{42, opInstanceof, 0, 1, opIfeq, 0, 10, 42, opInvokevirtual, 1, 0, 220, opInvokestatic, 2, 0, 177}

// java maps the fake JVM's own bytecode 220 to aload_0.
var java = func() *[256]byte {
	m := new([256]byte)
	for i := range m {
		m[i] = byte(i)
	}
	m[220] = 42
	return m
}()

// record returns a record with cells.
func record(tag, flags byte, bci int, cells ...int64) []byte {
	b := []byte{tag, flags, byte(bci), byte(bci >> 8), 0, 0, 0, 0}
	for _, c := range cells {
		b = binary.LittleEndian.AppendUint64(b, uint64(c))
	}
	return b
}

// classA and classB are the addresses of two classes. Nothing is read there.
const classA, classB = 0x8000, 0x9000

// records returns the records of the bytecode above, for a JDK with the cell of JVMCI or without.
func records(jvmci bool) (b []byte) {
	types := func(tag byte, bci int, count int64, rows ...int64) []byte {
		cells := []int64{count}
		if jvmci {
			cells = append(cells, 0)
		}
		return record(tag, 1, bci, append(cells, rows...)...)
	}
	b = append(b, types(tagReceiverType, 1, -40, classA, 60, 0, 0)...)
	b = append(b, record(tagBranch, 0, 4, 90, 32, 10)...)
	b = append(b, types(tagVirtualCall, 8, 20, classA, 50, classB, 30)...)
	return append(b, record(tagCounter, 0, 12, 7)...)
}

func newFakeJVM(t testing.TB, release int, data []byte) *fakeJVM {
	t.Helper()
	j := &fakeJVM{Memory: vmtest.New(), size: len(data)}
	tables := vmtest.Tables{
		Offsets: map[string]uint64{"Method::_method_data": 16, "MethodData::_method": 8},
		Statics: map[string]uint64{}, Types: map[string]string{},
		Sizes: map[string]uint64{"MethodData": fakeRecords + 8, "int": 4, "intx": 8, "size_t": 8, "uintx": 8},
		Ints:  map[string]int32{"Deoptimization::Reason_class_check": 4, "Deoptimization::Reason_LIMIT": 20},
	}
	if release < 28 {
		tables.Offsets["MethodData::_data_size"], tables.Offsets["MethodData::_data[0]"] = fakeRecords-12, fakeRecords
		tables.Offsets["MethodData::_trap_hist._array[0]"] = 48
	}
	j.addFlags(&tables)
	tables.Statics["Abstract_VM_Version::_vm_major_version"] = j.AddUint64(uint64(release))
	tables.Types["Abstract_VM_Version::_vm_major_version"] = "int"
	method := j.AddUint64(0, 0, 0)
	head := make([]byte, fakeRecords)
	binary.LittleEndian.PutUint64(head[8:], method)
	binary.LittleEndian.PutUint32(head[fakeRecords-12:], uint32(len(data)))
	head[48+4] = 2
	j.data = j.Add(append(head, data...)...)
	binary.LittleEndian.PutUint64(j.Data[method+16-vmtest.Base:], j.data)
	j.method = Method{Address: method, Bytecode: bytecode}
	symbols := j.AddTables(tables)
	var err error
	j.vm, err = vmstructs.New(j, symbols.Address)
	require.NoError(t, err)
	return j
}

// addFlags adds HotSpot's list of flags with TypeProfileWidth and BciProfileWidth, which are 2.
func (j *fakeJVM) addFlags(tables *vmtest.Tables) {
	value := j.AddUint64(2)
	var rows []uint64
	for _, name := range []string{"TypeProfileWidth", "BciProfileWidth"} {
		rows = append(rows, j.AddText(name), value, 3, 0) // 3 is the type intx
	}
	for field, at := range map[string]uint64{"_name": 0, "_addr": 8, "_type": 16} {
		tables.Offsets["JVMFlag::"+field] = at
	}
	tables.Types["JVMFlag::_name"], tables.Types["JVMFlag::_type"] = "char*", "int"
	tables.Sizes["JVMFlag"] = 32
	tables.Statics["JVMFlag::flags"], tables.Statics["JVMFlag::numFlags"] =
		j.AddUint64(j.AddUint64(rows...)), j.AddUint64(2)
}

// read returns the profile of the fake method, or nil.
func (j *fakeJVM) read(t testing.TB) *Profile {
	t.Helper()
	r, err := New(j.vm, java)
	require.NoError(t, err)
	profiles, err := r.Read([]Method{{Address: 8, Bytecode: bytecode}, j.method})
	require.NoError(t, err)
	require.Len(t, profiles, 2)
	require.Nil(t, profiles[0], "there is no method")
	return profiles[1]
}

func TestRead(t *testing.T) {
	instanceof := Site{BCI: 1, Bytecode: opInstanceof, Kind: TypeCheck, Types: []Type{{classA, 60}}, More: true,
		Failed: 40, NullSeen: true}
	rest := []Site{
		{BCI: 4, Bytecode: opIfeq, Kind: Branch, Taken: 90, NotTaken: 10},
		{BCI: 8, Bytecode: opInvokevirtual, Kind: Call, Types: []Type{{classA, 50}, {classB, 30}}, Others: 20,
			NullSeen: true},
	}
	for _, release := range []int{17, 21} {
		for _, jvmci := range []bool{false, true} {
			p := newFakeJVM(t, release, records(jvmci)).read(t)
			require.NotNil(t, p, "JDK %d, JVMCI %t", release, jvmci)
			assert.Equal(t, &Profile{Sites: append([]Site{instanceof}, rest...), Traps: []Trap{{"class_check", 2}}}, p)
		}
	}
	// From JDK 25 on, a count of type checks is that of other classes. A negative number is not a count.
	assert.Nil(t, newFakeJVM(t, 25, records(false)).read(t))
	data := records(false)
	binary.LittleEndian.PutUint64(data[8:], 5)
	for _, release := range []int{25, 28} {
		p := newFakeJVM(t, release, data).read(t)
		require.NotNil(t, p, "JDK %d", release)
		assert.Equal(t, Site{BCI: 1, Bytecode: opInstanceof, Kind: TypeCheck, Types: []Type{{classA, 60}}, Others: 5,
			NullSeen: true}, p.Sites[0])
		assert.Equal(t, []Trap{{"class_check", 2}}, p.Traps)
	}
}

// TestReadDamaged: records that do not pass the checks are not a profile.
func TestReadDamaged(t *testing.T) {
	good := records(false)
	for name, damage := range map[string]func(b []byte) []byte{
		"ends too early":        func(b []byte) []byte { return b[:len(b)-16] },
		"ends in a record":      func(b []byte) []byte { return b[:len(b)-8] },
		"not in cells":          func(b []byte) []byte { return b[:len(b)-3] },
		"has a record more":     func(b []byte) []byte { return append(b, record(tagBit, 0, 12)...) },
		"no such tag":           func(b []byte) []byte { b[0] = 99; return b },
		"another bytecode":      func(b []byte) []byte { b[2] = 4; return b },
		"within a bytecode":     func(b []byte) []byte { b[2] = 2; return b },
		"after the method":      func(b []byte) []byte { b[len(b)-14] = 200; return b },
		"bcis fall":             func(b []byte) []byte { copy(b[2:], b[58:60]); return b },
		"a count without end":   func(b []byte) []byte { b[48+8+7] = 0x7f; return b },
		"an address that isn't": func(b []byte) []byte { b[16] = 1; return b },
		"nothing":               func([]byte) []byte { return nil },
	} {
		assert.Nil(t, newFakeJVM(t, 21, damage(append([]byte(nil), good...))).read(t), name)
	}
	j := newFakeJVM(t, 21, good)
	binary.LittleEndian.PutUint64(j.Data[j.data+8-vmtest.Base:], 0x1234560)
	assert.Nil(t, j.read(t), "of another method")
	j = newFakeJVM(t, 21, good)
	binary.LittleEndian.PutUint32(j.Data[j.data+fakeRecords-12-vmtest.Base:], 1<<31)
	assert.Nil(t, j.read(t), "too large")
	j = newFakeJVM(t, 21, good)
	j.method.Bytecode = []byte{opTableswitch}
	assert.Nil(t, j.read(t), "no bytecode")
}

// FuzzRead reads any bytes as the records of a method with any bytecode.
func FuzzRead(f *testing.F) {
	f.Add(records(false), bytecode)
	f.Add(records(true), bytecode)
	f.Add(record(tagMultiBranch, 0, 0, 2, 1, 1), []byte{opLookupswitch, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0})
	f.Add(record(tagVirtualCallType, 0, 0, 0, classA, 1, classB, 2, 1, 1), []byte{opInvokevirtual, 0, 0})
	f.Fuzz(func(t *testing.T, data, code []byte) {
		r := Reader{layout: layout{records: 64, dataSize: 20, method: 8, traps: 24, types: 2, returns: 2,
			reasons: []reason{{"class_check", 4}}}, java: java}
		at, ok := starts(code, java)
		if !ok {
			return
		}
		assert.LessOrEqual(t, r.layout.expectedSize(at, 1), uint64(maxSize))
		p := r.profile(make([]byte, 64), data, at)
		if p == nil {
			return
		}
		last := -1
		for _, s := range p.Sites {
			assert.Greater(t, s.BCI, last)
			assert.Less(t, s.BCI, len(code))
			last = s.BCI
			for _, n := range []int64{s.Taken, s.NotTaken, s.Others, s.Failed} {
				assert.True(t, isCount(n))
			}
			assert.LessOrEqual(t, len(s.Types), 2)
		}
	})
}

// TestLengths checks the lengths of bytecodes with a method that has one of each kind.
func TestLengths(t *testing.T) {
	code := []byte{
		16, 1, 17, 0, 1, 18, 1, 19, 0, 1, 20, 0, 1, 21, 1, 54, 1, // bipush sipush ldc ldc_w ldc2_w iload istore
		opIinc, 1, 1, opIfeq, 0, 3, opGoto, 0, 3, opRet, 1,
		opWide, 21, 0, 1, opWide, opIinc, 0, 1, 0, 1,
		178, 0, 1, opInvokestatic, 0, 1, opInvokeinterface, 0, 1, 1, 0, opInvokedynamic, 0, 1, 0, 0, 187, 0, 1, 188, 4, 189,
		0, 1, 190, 191,
		opCheckcast, 0, 1, opInstanceof, 0, 1, 194, 195, 197, 0, 1, 2, opIfnull, 0, 3, opGotoW, 0, 0, 0, 5,
	}
	for len(code)%4 != 0 {
		code = append(code, 0)
	}
	// cases 1 and 2
	code = append(code, opTableswitch, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)
	code = append(code, opLookupswitch, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 177) // case 9
	at, ok := starts(code, java)
	require.True(t, ok)
	assert.Equal(t, byte(177), at[len(code)-1])
	begin := 0
	for _, op := range at {
		if op != noBytecode {
			begin++
		}
	}
	assert.Greater(t, begin, 30)
	for _, bad := range [][]byte{{202}, {17, 0}, {opWide}, {opLookupswitch, 0, 0, 0},
		{opTableswitch, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0x80, 0, 0, 0}} {
		_, ok := starts(bad, java)
		assert.False(t, ok, "%v", bad)
	}
}
