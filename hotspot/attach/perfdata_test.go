package attach

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A perfEntry is a value in a file of performance data. text is "" for a number.
type perfEntry struct{ name, text string }

// perfFileOf returns a file of performance data.
func perfFileOf(order binary.ByteOrder, entries ...perfEntry) []byte {
	file := make([]byte, prologueSize)
	copy(file, perfDataMagic)
	if order == binary.LittleEndian {
		file[byteOrderAt] = 1
	}
	order.PutUint32(file[firstEntryAt:], prologueSize)
	order.PutUint32(file[entriesAt:], uint32(len(entries)))
	for _, e := range entries {
		entry := append(make([]byte, entrySize), e.name...)
		entry = append(entry, 0)
		order.PutUint32(entry[nameAt:], entrySize)
		entry[dataTypeAt] = 'J'
		order.PutUint32(entry[dataOffsetAt:], uint32(len(entry)))
		if e.text != "" {
			entry[dataTypeAt] = 'B'
			order.PutUint32(entry[vectorLenAt:], uint32(len(e.text)+1))
		}
		entry = append(append(entry, e.text...), make([]byte, 8)...)
		order.PutUint32(entry, uint32(len(entry)))
		file = append(file, entry...)
	}
	order.PutUint32(file[usedAt:], uint32(len(file)))
	return append(file, make([]byte, 100)...) // unused bytes
}

func TestPerfStrings(t *testing.T) {
	entries := []perfEntry{{"sun.rt.javaCommand", "org.acme.Server a b"}, {"sun.ci.totalTime", ""},
		{"java.property.java.vm.version", "17.0.15+6"}}
	want := map[string]string{"sun.rt.javaCommand": "org.acme.Server a b", "java.property.java.vm.version": "17.0.15+6"}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		got, err := perfStrings(perfFileOf(order, entries...))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	file := perfFileOf(binary.LittleEndian, entries...)
	second := prologueSize + int(binary.LittleEndian.Uint32(file[prologueSize:]))
	damage := map[string]func(){
		"the second entry has no size":      func() { binary.LittleEndian.PutUint32(file[second:], 0) },
		"the second entry is negative":      func() { binary.LittleEndian.PutUint32(file[second:], 1<<31) },
		"the second entry is past the end":  func() { binary.LittleEndian.PutUint32(file[second:], 1<<20) },
		"a file that is cut in the middle":  func() { file = file[:second+entrySize-1] },
		"one entry is counted":              func() { binary.LittleEndian.PutUint32(file[entriesAt:], 1) },
		"the first entry is all that it is": func() { file = file[:second] },
	}
	for what, do := range damage {
		file = perfFileOf(binary.LittleEndian, entries...)
		do()
		got, err := perfStrings(file)
		require.NoError(t, err, what)
		assert.Equal(t, map[string]string{"sun.rt.javaCommand": "org.acme.Server a b"}, got, what)
	}
	for _, text := range []string{"", "text", string(file[1:])} {
		_, err := perfStrings([]byte(text))
		assert.Error(t, err)
	}
}

func FuzzPerfData(f *testing.F) {
	f.Add(perfFileOf(binary.LittleEndian, perfEntry{"sun.rt.javaCommand", "Main"}, perfEntry{"number", ""}))
	f.Add(perfFileOf(binary.BigEndian, perfEntry{"java.property.java.vm.version", "17"}))
	f.Fuzz(func(t *testing.T, file []byte) {
		if a, _ := parseActivity(file); len(a.Collectors) > maxCollectors {
			t.Fatal(a)
		}
		got, err := perfStrings(file)
		if err != nil && len(got) > 0 {
			t.Fatal("strings with an error")
		}
		size := 0
		for name, value := range got {
			size += len(name) + len(value)
		}
		// A damaged entry may have its name inside its value, so a byte of the file may be returned twice. But
		// nothing outside the entry is read.
		if size > 2*len(file) {
			t.Fatalf("%d bytes of strings in a file of %d", size, len(file))
		}
	})
}

func TestMainOfArguments(t *testing.T) {
	check := func(want string, args ...string) {
		t.Helper()
		assert.Equal(t, want, mainOfArguments(append([]string{"java"}, args...)), "%q", args)
	}
	check("Main", "Main")
	check("org.acme.Main", "-Xmx1g", "-cp", "a:b", "-Dx=y", "org.acme.Main", "-jar", "other.jar")
	check("app.jar", "--add-modules", "jdk.jfr", "-jar", "/opt/app/app.jar", "arg")
	check("mod/org.acme.Main", "-p", "mods", "-m", "mod/org.acme.Main")
	check("mod/org.acme.Main", "--module=mod/org.acme.Main")
	check("", "@options", "Main")
	check("", "-version")
	check("", "-jar")
	check("")
}

func TestNamed(t *testing.T) {
	jvms := []Process{{PID: 1, Main: "org.acme.Server", Version: "17"}, {PID: 2, Main: "org.acme.ServerTest"},
		{PID: 3, Main: "app.jar"}, {PID: 4}}
	for name, want := range map[string]int{"org.acme.Server": 1, "ServerTest": 2, "app": 3} {
		j, err := named(jvms, name)
		require.NoError(t, err)
		assert.Equal(t, want, j.PID)
	}
	_, err := named(jvms, "acme")
	var several *AmbiguousError
	require.ErrorAs(t, err, &several)
	assert.EqualError(t, err,
		`2 JVMs have "acme" in their main class or jar: 1 (org.acme.Server, 17), 2 (org.acme.ServerTest); name one by its process id`)
	for _, name := range []string{"", "acme.jar"} {
		_, err = named(jvms, name)
		assert.ErrorContains(t, err, "`gasm attach` lists those that run")
	}
}
