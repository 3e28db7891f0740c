package javasource

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sources are files as projects and archives contain them.
var sources = map[string]string{
	"src/main/java/a/b/Bench.java":      "/* of\n   a company */\npackage a.b;\n\nclass Bench {\n\tint n;\t// how many\r\n    class Inner { int deep; }\n}\n",
	"src/test/java/a/b/Bench.java":      "package a.b; // the test's own\n",
	"src/main/java/Plain.java":          "class Plain {}\n",
	"src/main/java/x/Plain.java":        "package x;\nclass Plain { /* of x */ }\n",
	"org/x/Plain.java":                  "package org.x;\nclass Plain { /* of org.x */ }\n",
	"java.base/java/util/HashMap.java":  "// package wrong;\npackage java . util ;\nclass HashMap { }\n",
	"lib/java/util/HashMap.java":        "package some.java.util;\nclass Other { }\n",
	"gen/$Gen.java":                     "package gen;\nclass $Gen { }\n",
	"odd/Odd.java":                      "package odd;\nString s = \"\x1b[31m\u202e\xff\";\n\n",
	"target/classes/a/b/Bench.java.txt": "not this\n",
	".git/a/b/Hidden.java":              "package a.b;\n",
	"late/src/later/Late.java":          "package later;\nclass Late { }\n",
}

func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func archiveOf(t *testing.T, files map[string]string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "src.zip"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(file)
	for name, text := range files {
		entry, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

func finder(t *testing.T, paths ...string) *Finder {
	t.Helper()
	f, err := New(paths)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestLine(t *testing.T) {
	finders := map[string]*Finder{
		"folder":  finder(t, folderOf(t, sources)),
		"archive": finder(t, archiveOf(t, sources)),
	}
	require.NotEmpty(t, finders)
	for place, f := range finders {
		check := func(class string, line int, want string) {
			t.Helper()
			if got := f.Line(class, line).Text; got != want {
				t.Errorf("%s: %s line %d: got %q, want %q", place, class, line, got, want)
			}
		}
		check("a.b.Bench::measure", 5, "class Bench {")
		check("a.b.Bench", 6, "int n;  // how many")
		check("a.b.Bench$Inner::deep", 7, "class Inner { int deep; }")
		check("a.b.Bench$1$Deeper::get", 8, "}")
		check("a.b.Bench$$Lambda/0x00007f0001234000::apply", 5, "class Bench {")
		check("a.b.Bench$$Lambda$14+0x00007f0001234000::apply", 5, "class Bench {")
		check("java.util.HashMap::getNode", 3, "class HashMap { }")
		check("gen.$Gen$Inner::run", 2, "class $Gen { }")
		check("later.Late::x", 2, "class Late { }")
		check("Plain::main", 1, "class Plain {}")
		check("x.Plain::main", 2, "class Plain { /* of x */ }")
		check("odd.Odd::s", 2, `String s = " [31m ?";`)
		check("a.b.Bench::measure", 4, "")
		check("a.b.Bench::measure", 0, "")
		check("a.b.Bench::measure", -1, "")
		check("a.b.Bench::measure", 10, "")
		check("b.Bench::measure", 1, "")
		check("java.util.TreeMap::get", 1, "")
		check("", 1, "")
		check("..::x", 1, "")
		check("../../etc/passwd::x", 1, "")
	}
	if finder(t, folderOf(t, sources)).Line("a.b.Hidden", 1).Text != "" {
		t.Error("found in .git")
	}
}

// A capture says which files its classes were compiled from. Files that are not sources are not shown, even if the
// capture names them.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".env", "id_rsa", "secrets.properties", "a/b/.env", "A.java"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("PASSWORD=1\n"), 0o600))
	}
	archive := map[string]string{".env": "PASSWORD=1\n", "id_rsa": "PASSWORD=1\n", "A.java": "PASSWORD=1\n"}
	for place, f := range map[string]*Finder{"folder": finder(t, dir), "archive": finder(t, archiveOf(t, archive))} {
		told := map[string]string{"Own": "A.java"}
		for class, file := range map[string]string{"A": ".env", "a.b.C": ".env", "D": "id_rsa",
			"E": "secrets.properties", "F": "../" + filepath.Base(dir) + "/.env", "G": dir + "/.env"} {
			told[class] = file
		}
		f.Know(told, nil)
		for class := range told {
			want := ""
			if class == "Own" {
				want = "PASSWORD=1"
			}
			assert.Equal(t, want, f.Line(class+"::x", 1).Text, "%s: %s in %s", place, class, told[class])
		}
	}
}

// TestOrder checks that the first path with a source of the class wins, even if that path is only the directory of the
// class's package.
func TestOrder(t *testing.T) {
	one := folderOf(t, map[string]string{"Bench.java": "package a.b; // one\n", "Plain.java": "package q;\n"})
	two := archiveOf(t, map[string]string{"a/b/Bench.java": "package a.b; // two\n",
		"a/b/Else.java": "package a.b; // two\n", "Plain.java": "// two\n"})
	cases := []struct {
		paths       []string
		class, want string
	}{
		{[]string{one, two}, "a.b.Bench", "package a.b; // one"},
		{[]string{two, one}, "a.b.Bench", "package a.b; // two"},
		{[]string{one, two}, "a.b.Else", "package a.b; // two"},
		{[]string{one, two}, "Plain", "// two"},
		{nil, "Plain", ""},
	}
	require.NotEmpty(t, cases)
	for _, c := range cases {
		if got := finder(t, c.paths...).Line(c.class, 1).Text; got != c.want {
			t.Errorf("%s in %v: got %q, want %q", c.class, c.paths, got, c.want)
		}
	}
}

// TestCache checks that a file is looked for and read only once, even if it does not exist.
func TestCache(t *testing.T) {
	dir := folderOf(t, map[string]string{"src/a/Bench.java": "package a;\n"})
	f := finder(t, dir)
	for range 2 {
		if got := f.Line("a.Bench::x", 1).Text; got != "package a;" {
			t.Errorf("got %q", got)
		}
		if got := f.Line("a.New::x", 1).Text; got != "" {
			t.Errorf("got %q", got)
		}
		if err := os.RemoveAll(filepath.Join(dir, "src")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "New.java"), []byte("package a;\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSymlink(t *testing.T) {
	dir := folderOf(t, map[string]string{"src/a/Bench.java": "package a;\n"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if got := finder(t, link).Line("a.Bench", 1).Text; got != "package a;" {
		t.Errorf("got %q", got)
	}
}

func TestTooLarge(t *testing.T) {
	f := finder(t, archiveOf(t, map[string]string{"Big.java": strings.Repeat("\n", maxFileSize+1)}))
	if got := f.Line("Big", 1).Text; got != "" {
		t.Errorf("got %q", got)
	}
}

// TestAllowance checks that of archives that unpack to a large size, only a limited amount is read.
func TestAllowance(t *testing.T) {
	f := finder(t, archiveOf(t, map[string]string{"A.java": "class A {}\n", "B.java": strings.Repeat("\n", 200),
		"C.java": "class C {}\n"}))
	f.left = 100
	for class, want := range map[string]string{"A": "class A {}"} {
		if got := f.Line(class, 1).Text; got != want {
			t.Errorf("got %q", got)
		}
	}
	for _, class := range []string{"B", "C"} {
		if got := f.Line(class, 1).Text; got != "" {
			t.Errorf("got %q", got)
		}
	}
	_, missing, causes := f.Missing()
	if last := causes[len(causes)-1]; missing != 2 || !strings.Contains(last, "need more than 256 MiB of files") {
		t.Errorf("%d are missing: %s", missing, last)
	}
}

func TestNewErrors(t *testing.T) {
	dir := folderOf(t, map[string]string{"Plain.java": "class Plain {}\n", "cut.jar": "PK\x03\x04"})
	good := archiveOf(t, sources)
	cases := map[string]string{
		filepath.Join(dir, "nosuch"):     "no such file or directory",
		filepath.Join(dir, "Plain.java"): "is neither a folder nor a jar or zip",
		filepath.Join(dir, "cut.jar"):    "is neither a folder nor a jar or zip",
		os.DevNull:                       "is a device, and gasm reads regular files only",
	}
	require.NotEmpty(t, cases)
	for path, want := range cases {
		_, err := New([]string{good, path})
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

func TestPackageOf(t *testing.T) {
	cases := map[string]string{
		"":                                  "",
		"class A {}":                        "",
		"package a;":                        "a",
		"\ufeffpackage a.b;":                "a.b",
		"/* package c; */ package a.b ;":    "a.b",
		"// package c;\r\n\r\npackage a;":   "a",
		"/** x */\n/* y */\n\tpackage a_1;": "a_1",
		"package größe.straße;":             "größe.straße",
		"packages a;":                       "",
		"/* not closed package a;":          "",
		"import a; package b;":              "",
	}
	require.NotEmpty(t, cases)
	for text, want := range cases {
		if got := packageOf([]byte(text), java); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// FuzzSource reads files with arbitrary contents.
func FuzzSource(f *testing.F) {
	for _, text := range sources {
		f.Add(text)
	}
	f.Add("/* not closed package a;")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range languages {
			if name := packageOf([]byte(text), l); strings.ContainsAny(name, "\t\r\n;") {
				t.Fatalf("package %q", name)
			}
		}
		line := clean(text)
		if line != strings.TrimSpace(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("line %q", line)
		}
	})
}
