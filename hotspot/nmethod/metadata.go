package nmethod

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/javaname"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A metadataKind is the kind of an object in HotSpot's metaspace. The only sign of an object's kind is the address of
// its virtual function table, which is at the start of the object.
type metadataKind int

const (
	unknownMetadata metadataKind = iota
	methodMetadata
	methodDataMetadata
	klassMetadata
)

// virtualTables are the symbols of the virtual function tables of HotSpot's classes.
var virtualTables = map[string]metadataKind{
	"_ZTV6Method":                    methodMetadata,
	"_ZTV10MethodData":               methodDataMetadata,
	"_ZTV13InstanceKlass":            klassMetadata,
	"_ZTV16InstanceRefKlass":         klassMetadata,
	"_ZTV19InstanceMirrorKlass":      klassMetadata,
	"_ZTV24InstanceClassLoaderKlass": klassMetadata,
	"_ZTV23InstanceStackChunkKlass":  klassMetadata,
	"_ZTV13ObjArrayKlass":            klassMetadata,
	"_ZTV14TypeArrayKlass":           klassMetadata,
	"_ZTV10ValueKlass":               klassMetadata,
	"_ZTV11InlineKlass":              klassMetadata,
	"_ZTV13RefArrayKlass":            klassMetadata,
	"_ZTV14FlatArrayKlass":           klassMetadata,
}

// comparedFunctions is the number of functions that are compared at the start of two virtual function tables. If they
// agree, both tables belong to the same class of metadata. Every such class has more virtual functions than that, and
// any two classes differ in these first functions.
const comparedFunctions = 12

// tableHeader is the size in bytes of what lies before the first virtual function of a table.
const tableHeader = 16

// A virtualTable has the first entries of a virtual function table in libjvm.so.
type virtualTable struct {
	kind      metadataKind
	functions []byte
}

// readVirtualTables reads those tables whose symbols libjvm.so has.
func (c *Copier) readVirtualTables() {
	for name, kind := range virtualTables {
		at, ok := c.symbols[name]
		if !ok {
			continue
		}
		functions, err := c.vm.Read(nil, at+tableHeader, 8*comparedFunctions)
		if err == nil {
			c.tables = append(c.tables, virtualTable{kind, functions})
			c.kinds[at+tableHeader] = kind
		}
	}
}

// kindOf returns the kind of the metadata at an address. Metadata in the archive of class data sharing points to copies
// of the virtual function tables (cppVtables.cpp). So kindOf recognizes a table with an unknown address by its
// functions.
func (c *Copier) kindOf(metadata uint64) metadataKind {
	table, err := c.vm.Uint64(metadata)
	if err != nil {
		return unknownMetadata
	}
	if kind, ok := c.kinds[table]; ok {
		return kind
	}
	functions, err := c.vm.Read(nil, table, 8*comparedFunctions)
	if err != nil {
		return unknownMetadata
	}
	kind := unknownMetadata
	for _, t := range c.tables {
		if bytes.Equal(t.functions, functions) {
			kind = t.kind
		}
	}
	c.kinds[table] = kind
	return kind
}

// metadataName describes metadata as HotSpot prints it (print_value_on), escaped for a log. It returns "" if its kind
// is unknown. Examples:
//
//	'java/util/ArrayList'
//	{type array byte}
//	{method} {0x00007f4a2c0a8e70} 'hashCode' '()I' in 'java/lang/String'
//	method data for {method} {0x00007f4a2c0a8e70} 'hashCode' '()I' in 'java/lang/String'
func (c *Copier) metadataName(at uint64) string {
	if at == 0 || at == ^uint64(0) { // ^uint64(0) is Universe::non_oop_word
		if c.layout.release < 21 {
			return "NULL"
		}
		return "nullptr"
	}
	if name, ok := c.metadata[at]; ok {
		return name
	}
	name, err := c.readMetadataName(at)
	if err != nil {
		name = ""
	}
	c.metadata[at] = name
	return name
}

func (c *Copier) readMetadataName(at uint64) (string, error) {
	kind := c.kindOf(at)
	switch kind {
	case klassMetadata:
		name, err := c.klassSymbol(at)
		return printassembly.Escape(klassText(name)), err
	case methodMetadata:
		text, err := c.methodText(at)
		return printassembly.Escape(text), err
	case methodDataMetadata:
		method, err := c.vm.Uint64(at + c.layout.methodDataMethod)
		if err != nil {
			return "", err
		}
		if c.kindOf(method) != methodMetadata {
			return "", fmt.Errorf("the data at %#x does not belong to a method", at)
		}
		if name := c.metadataName(method); name != "" {
			return "method data for " + name, nil
		}
	}
	return "", nil
}

// methodText describes a Method as HotSpot prints it (Method::print_value_on), for example "{method}
// {0x00007f4a2c0a8e70} 'hashCode' '()I' in 'java/lang/String'".
func (c *Copier) methodText(method uint64) (string, error) {
	_, head, err := c.readConstMethod(method)
	if err != nil {
		return "", err
	}
	pool := binary.LittleEndian.Uint64(head[c.layout.constants:])
	name, err := c.symbolAt(pool, uint64(binary.LittleEndian.Uint16(head[c.layout.nameIndex:])))
	if err != nil {
		return "", err
	}
	signature, err := c.symbolAt(pool, uint64(binary.LittleEndian.Uint16(head[c.layout.signatureIndex:])))
	if err != nil {
		return "", err
	}
	klass, err := c.vm.Uint64(pool + c.layout.poolHolder)
	if err != nil {
		return "", err
	}
	class, err := c.klassSymbol(klass)
	if err != nil {
		return "", err
	}
	modifiers, err := c.modifiers(method)
	return fmt.Sprintf("{method} {%#016x} %s'%s' '%s' in '%s'", method, modifiers,
		javaname.Decode(name), javaname.Decode(signature), class), err
}

// modifierTexts are the modifiers of methods in the order in which HotSpot prints them.
var modifierTexts = []struct {
	flag uint32
	text string
}{
	{1, "public "}, {2, "private "}, {4, "protected "}, {8, "static "}, {0x10, "final "}, {0x20, "synchronized "},
	{0x40, "bridge "}, {0x80, "varargs "}, {0x100, "native "}, {0x400, "abstract "}, {0x800, "strict "},
	{0x1000, "synthetic "},
}

// modifiers returns the text of a method's modifiers. It returns "" for JDK 27 and older, which do not print them.
func (c *Copier) modifiers(method uint64) (string, error) {
	if !c.layout.printsModifiers {
		return "", nil
	}
	flags, err := c.vm.Uint32(method + c.layout.accessFlags)
	var text strings.Builder
	for _, m := range modifierTexts {
		if flags&m.flag != 0 {
			text.WriteString(m.text)
		}
	}
	return text.String(), err
}

// klassSymbol returns the internal name of a class: "java/lang/String", "[I".
func (c *Copier) klassSymbol(klass uint64) (string, error) {
	symbol, err := c.vm.Uint64(klass + c.layout.className)
	if err != nil {
		return "", err
	}
	name, err := c.symbol(symbol)
	return javaname.Decode(name), err
}

// elementTypes are the names of primitive types, by the letters that stand for them in the names of arrays.
var elementTypes = map[string]string{
	"Z": "bool", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short", "I": "int", "J": "long",
}

// klassText returns HotSpot's text for a class, from its internal name: 'java/lang/String', {type array int},
// 'java/lang/Object'[].
func klassText(name string) string {
	element := strings.TrimLeft(name, "[")
	dimensions := len(name) - len(element)
	if dimensions == 0 {
		return "'" + name + "'"
	}
	if class, ok := strings.CutPrefix(element, "L"); ok {
		return "'" + strings.TrimSuffix(class, ";") + "'" + strings.Repeat("[]", dimensions)
	}
	return "{type array " + elementTypes[element] + "}" + strings.Repeat("[]", dimensions-1)
}
