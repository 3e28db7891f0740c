package classes

import "github.com/gasm-profiler/gasm/hotspot/vmstructs"

type field = vmstructs.Field

// A layout has the offsets of the fields that this package reads in HotSpot's structures.
type layout struct {
	// JDK 9 and newer: the list of class loaders (ClassLoaderData), each with the list of its classes (Klass).
	loaders                   uint64 // address of the variable that points to the first loader
	loaderKlasses, loaderNext uint64

	// JDK 8: the system dictionary, and its entries.
	dictionary                         field
	tableSize, buckets                 uint64
	entryKlass, entryLoader, entryNext uint64
	klassLoader                        field // the ClassLoaderData of a Klass

	klassSize                                         uint64 // size of an InstanceKlass
	name, layoutHelper, nextLink, classFlags, methods field
	arrayLength, arrayData                            uint64 // fields of an Array<Method*>
	methodSize, constMethodSize, poolSize, symbolBody uint64
	methodFlags, constMethod, constants               field
	nameIndex, signatureIndex, symbolLength           field
}

func newLayout(vm *vmstructs.VM) (*layout, error) {
	q := query{vmstructs.Query{VM: vm}}
	l := &layout{
		klassSize: q.Size("InstanceKlass"),
		name:      q.field("Klass::_name"), layoutHelper: q.field("Klass::_layout_helper"),
		methods:     q.field("InstanceKlass::_methods"),
		arrayLength: q.field("Array<int>::_length").At, arrayData: q.field("Array<Method*>::_data").At,
		methodSize: q.Size("Method"), constMethodSize: q.Size("ConstMethod"), poolSize: q.Size("ConstantPool"),
		methodFlags: q.field("Method::_access_flags"), constMethod: q.field("Method::_constMethod"),
		constants: q.field("ConstMethod::_constants"), nameIndex: q.field("ConstMethod::_name_index"),
		signatureIndex: q.field("ConstMethod::_signature_index"),
		symbolLength:   q.field("Symbol::_length"), symbolBody: q.field("Symbol::_body").At,
	}
	l.classFlags = q.first("Klass::_access_flags", "InstanceKlass::_access_flags") // JDK 28 moved it to InstanceKlass
	if vm.Release == 8 {
		l.readDictionary(&q)
	} else {
		l.loaders = q.Static("ClassLoaderDataGraph::_head").At
		l.loaderKlasses, l.loaderNext = q.field("ClassLoaderData::_klasses").At, q.field("ClassLoaderData::_next").At
		l.nextLink = q.field("Klass::_next_link")
	}
	return l, q.Missing
}

func (l *layout) readDictionary(q *query) {
	l.dictionary = q.Static("SystemDictionary::_dictionary")
	l.tableSize, l.buckets = q.field("BasicHashtable<mtInternal>::_table_size").At,
		q.field("BasicHashtable<mtInternal>::_buckets").At
	l.entryNext = q.field("BasicHashtableEntry<mtInternal>::_next").At
	l.entryKlass, l.entryLoader = q.field("IntptrHashtableEntry::_literal").At,
		q.field("DictionaryEntry::_loader_data").At
	l.klassLoader = q.field("InstanceKlass::_class_loader_data")
}

// A query looks up fields in HotSpot's tables, and notes which ones are missing.
type query struct{ vmstructs.Query }

func (q *query) field(name string) field {
	f, ok := q.VM.Field(name)
	q.Must(ok, name)
	if f.Size == 0 || f.Size > 8 {
		f.Size = 8
	}
	return f
}

// first looks up the first of these fields that this JVM has. If it has none of them, names[0] is reported as missing.
func (q *query) first(names ...string) field {
	for _, name := range names {
		if _, ok := q.VM.Offset(name); ok {
			return q.field(name)
		}
	}
	return q.field(names[0])
}
