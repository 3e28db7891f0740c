package nmethod

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// image is memory from base on.
type image struct{ data []byte }

const base = 0x10000

func (m *image) ReadAt(buf []byte, at int64) (int, error) {
	if at < base || at-base+int64(len(buf)) > int64(len(m.data)) {
		return 0, io.ErrUnexpectedEOF
	}
	return copy(buf, m.data[at-base:]), nil
}

func (m *image) add(data ...byte) (at uint64) {
	at = base + uint64(len(m.data))
	m.data = append(m.data, data...)
	return at
}

func (m *image) word(v uint64) uint64 { return m.add(binary.LittleEndian.AppendUint64(nil, v)...) }

// libjvm makes HotSpot's tables in memory, with entries of the given sizes, and
// gives the addresses of its symbols.
func libjvm(m *image) map[string]uint64 {
	symbols := map[string]uint64{}
	table := func(name string, stride uint64, columns map[string]uint64, entries ...map[string]any) {
		var rows []byte
		for _, e := range append(entries, nil) {
			row := make([]byte, stride+8)
			for column, value := range e {
				v, ok := value.(uint64)
				if text, isText := value.(string); isText {
					v, ok = m.add(append([]byte(text), 0)...), true
				}
				if !ok {
					panic(fmt.Sprint(value))
				}
				binary.LittleEndian.PutUint64(row[columns[column]:], v)
			}
			rows = append(rows, row[:stride]...)
		}
		at := m.add(rows...)
		symbols[name+"s"], symbols[name+"EntryArrayStride"] = m.word(at), m.word(stride)
		for column, offset := range columns {
			symbols[name+"Entry"+column+"Offset"] = m.word(offset)
		}
	}
	table("gHotSpotVMStruct", 48, map[string]uint64{"TypeName": 0, "FieldName": 8, "TypeString": 16, "IsStatic": 24, "Offset": 32, "Address": 40},
		map[string]any{"TypeName": "Method", "FieldName": "_constMethod", "Offset": uint64(8)},
		map[string]any{"TypeName": "VM", "FieldName": "_version", "IsStatic": uint64(1), "Address": uint64(0x77)})
	table("gHotSpotVMType", 24, map[string]uint64{"TypeName": 0, "Size": 16}, map[string]any{"TypeName": "ConstMethod", "Size": uint64(56)})
	table("gHotSpotVMIntConstant", 12, map[string]uint64{"Name": 0, "Value": 8}, map[string]any{"Name": "flag", "Value": uint64(3)})
	m.add(make([]byte, pageSize)...) // pages are read whole
	return symbols
}

func TestStructs(t *testing.T) {
	var m image
	symbols := libjvm(&m)
	at := func(name string) (uint64, error) {
		if v, ok := symbols[name]; ok {
			return v, nil
		}
		return 0, errors.New("no " + name)
	}
	s, err := readStructs(memory{&m}, at)
	require.NoError(t, err)
	assert.Equal(t, &structs{fields: map[string]uint64{"Method._constMethod": 8}, statics: map[string]uint64{"VM._version": 0x77},
		sizes: map[string]uint64{"ConstMethod": 56}, ints: map[string]uint32{"flag": 3}}, s)

	_, err = newLayout(s, 17)
	require.EqualError(t, err, "HotSpot's tables have no nmethod._compile_id")
	_, err = newJVM(&m, at)
	require.ErrorContains(t, err, "do not tell its version")

	m.data = m.data[:len(m.data)/2]
	_, err = readStructs(memory{&m}, at)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	for _, name := range []string{"gHotSpotVMTypes", "gHotSpotVMStructEntryOffsetOffset"} {
		var m image
		symbols = libjvm(&m)
		delete(symbols, name)
		_, err := readStructs(memory{&m}, at)
		require.ErrorContains(t, err, "no "+name)
	}
}

func TestExternalName(t *testing.T) {
	for internal, want := range map[string]string{
		"java/lang/String":           "java.lang.String",
		"A":                          "A",
		"a/B$$Lambda+0x00007f00120a": "a.B$$Lambda/0x00007f00120a",
		"scala/x$plus":               "scala.x$plus",
	} {
		assert.Equal(t, want, externalName(internal))
	}
}

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"main": "main", "<init>": "<init>", "hüt_ß日本": `h\u00fct_\u00df\u65e5\u672c`,
		"\xed\xa0\xbd\xed\xb8\x80": `\ud83d\ude00`, // an emoji, in six bytes
		"\xc0\x80":                 `\u0000`, "a\xe6": `a\u00e6`,
	} {
		assert.Equal(t, want, quote(name))
	}
}
