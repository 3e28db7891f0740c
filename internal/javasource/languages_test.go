package javasource

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPackageOfLanguages(t *testing.T) {
	for _, c := range []struct {
		language
		text, want string
	}{
		{kotlin, "package a.b\n\nclass C", "a.b"},
		{kotlin, "package a.b;class C", "a.b"},
		{kotlin, "#!/usr/bin/env kotlin\n// x\npackage a.`in`.b // y\n", "a.in.b"},
		{kotlin, "/* /* nested */ package no */\n@file:JvmName(\"A)\\\")\")\n@file:[JvmMultifileClass Suppress(\"x]\")]\n@file:kotlin.jvm.JvmMultifileClass\n\npackage kotlin.collections\n", "kotlin.collections"},
		{kotlin, "import a.b\npackage c", ""},
		{kotlin, "@file:JvmName(\"A", ""},
		{scala, "package a.b\nclass C", "a.b"},
		{scala, "/* licence */\n\npackage scala\npackage collection.immutable\n\nimport x", "scala.collection.immutable"},
		{scala, "package a { package b {\nclass C } }", "a.b"},
		{scala, "package a; package b:\n  class C", "a.b"},
		{scala, "package a\npackage object b extends C {", "a.b"},
		{scala, "class C", ""},
		{groovy, "package a.b\nclass C", "a.b"},
		{groovy, "#!/usr/bin/env groovy\npackage a.b;", "a.b"},
		{java, "package a\n.b;", "a.b"},
	} {
		assert.Equal(t, c.want, packageOf([]byte(c.text), c.language), c.text)
	}
}

// languageSources are files as projects in Kotlin, Scala, Groovy and Clojure contain them.
var languageSources = map[string]string{
	// without the common prefix of all packages
	"src/main/kotlin/util/Main.kt":              "package org.acme.util\n\nfun main() { }\n",
	"src/main/kotlin/org/acme/Twice.kt":         "package org.acme\nclass Twice // the class\n",
	"commonMain/generated/_Arrays.kt":           "@file:JvmName(\"ArraysKt\")\n\npackage kotlin.collections\n\nfun each() { } // of arrays\n",
	"commonMain/other/_Arrays.kt":               "package other\n",
	"scala/collection/immutable/Range.scala":    "package scala\npackage collection.immutable\nclass Range // a range\n",
	"scala/collection/package.scala":            "package scala\npackage object collection { // the package\n",
	"cross/scala-2.12/org/acme/Cross.scala":     "package org.acme\n// for 2.12\n",
	"cross/scala-2.13/org/acme/Cross.scala":     "package org.acme\n// for 2.13\n",
	"one/Same.scala":                            "package org.acme\n// the same\n",
	"two/Same.scala":                            "package org.acme\n// the same\n",
	"src/test/scala/Tested.scala":               "package org.acme\n// a test\n",
	"src/main/scala/Tested.scala":               "package org.acme\n// no test\n",
	"src/main/groovy/org/acme/Script.groovy":    "package org.acme\nprintln 1\n",
	"src/my_app/core.clj":                       "(ns ^{:doc \"x\"} my-app.core)\n(defn run [] 1)\n",
	"src/main/kotlin/org/acme/NotInIt.kt":       "package org.acme\nclass Another\n",
	"src/main/kotlin/org/acme/KotlinGuessed.kt": "package org.acme\nobject KotlinGuessed\n",
}

// TestLanguages finds lines with the file names that the JVM knows, and without file names.
func TestLanguages(t *testing.T) {
	told := map[string]string{
		"org.acme.util.MainKt": "Main.kt", "kotlin.collections.ArraysKt___ArraysKt": "_Arrays.kt",
		"scala.collection.immutable.Range$": "Range.scala",
		"scala.collection.package$":         "package.scala", "org.acme.Cross": "Cross.scala", "org.acme.Same": "Same.scala",
		"org.acme.Tested":               "Tested.scala",
		"org.acme.Script$_run_closure1": "Script.groovy", "my_app.core$run": "core.clj",
		"org.acme.Twice$Lambda/0x0000": "Twice.kt", "x.Absent": "Absent.kt",
	}
	for place, root := range map[string]string{"folder": folderOf(t, languageSources),
		"archive": archiveOf(t, languageSources)} {
		f := finder(t, root)
		f.Know(told, nil)
		for _, c := range []struct {
			class string
			line  int
			want  string
		}{
			{"org.acme.util.MainKt::main", 3, "Main.kt:3 fun main() { }"},
			{"kotlin.collections.ArraysKt___ArraysKt::each", 5, "_Arrays.kt:5 fun each() { } // of arrays"},
			{"scala.collection.immutable.Range$::apply", 3, "Range.scala:3 class Range // a range"},
			{"scala.collection.package$::x", 2, "package.scala:2 package object collection { // the package"},
			{"org.acme.Cross::x", 2, "Cross.scala:2 "},
			{"org.acme.Same::x", 2, "Same.scala:2 // the same"},
			{"org.acme.Tested::x", 2, "Tested.scala:2 // no test"},
			{"org.acme.Script$_run_closure1::doCall", 2, "Script.groovy:2 println 1"},
			{"my_app.core$run::invoke", 2, "core.clj:2 (defn run [] 1)"},
			{"org.acme.Twice$Lambda/0x0000::run", 2, "Twice.kt:2 class Twice // the class"},
			{"x.Absent::run", 2, "Absent.kt:2 "},
			// The names of these files are not known.
			{"org.acme.Twice$Inner::run", 2, "Twice.kt:2 class Twice // the class"},
			{"org.acme.KotlinGuessed::run", 2, "KotlinGuessed.kt:2 object KotlinGuessed"},
			{"org.acme.NotInIt::run", 2, "NotInIt.java:2 "},
			{"org.acme.util.MainKt$x::run", 3, "Main.kt:3 fun main() { }"},
			{"my_app.core$other::invoke", 2, "core.clj:2 (defn run [] 1)"},
			{"org.acme.Twice::run", 3, "Twice.kt:3 "},
			{"org.acme.Twice::run", 40, "Twice.kt:40 "},
			{"org.acme.Twice::run", 0, ":0 "},
		} {
			l := f.Line(c.class, c.line)
			assert.Equal(t, c.want, fmt.Sprintf("%s:%d %s", l.File, l.Number, l.Text), "%s: %s", place, c.class)
		}
		asked, missing, causes := f.Missing()
		assert.Equal(t, 18, asked)
		assert.Equal(t, 5, missing)
		all := strings.ReplaceAll(strings.Join(causes, "\n"), root+string(filepath.Separator), "ROOT/")
		assert.Equal(t, `2 of 18 lines have no source: org.acme.Twice (line 3 is beyond the end of Twice.kt, which has 2: it is code of an inline function `+
			`whose class file, which says where the function is, is not on the class path; or it is another version)
1 of 18 lines have no source: org.acme.* (no file NotInIt.java in the given roots)
1 of 18 lines have no source: x.* (no file Absent.kt in the given roots)
1 of 18 lines have no source: org.acme.Cross (ROOT/cross/scala-2.12/org/acme/Cross.scala and ROOT/cross/scala-2.13/org/acme/Cross.scala are equally likely: `+
			`name the root of one of them)`, all)
	}
}

// TestMapped checks that the lines of Kotlin's inline functions, which are in other files, are found with the map in
// the class file.
func TestMapped(t *testing.T) {
	arrays := "package kotlin.collections\n" + strings.Repeat("\n", 13577) + "// line 13579\n// line 13580\n"
	main := "package org.acme\n" + strings.Repeat("// main\n", 29)
	root := folderOf(t, map[string]string{"Main.kt": main, "gen/_Arrays.kt": arrays})
	jar := archiveOf(t, map[string]string{"org/acme/MainKt.class": string(classBytes("Main.kt", kotlinMap))})
	with, without, other := finder(t, root), finder(t, root), finder(t, root)
	told := map[string]string{"org.acme.MainKt": "Main.kt"}
	with.Know(told, []string{jar})
	without.Know(told, nil)
	other.Know(map[string]string{"org.acme.MainKt": "Other.kt"}, []string{jar})
	for number, want := range map[int]Line{
		30: {"Main.kt", 30, "// main"}, 31: {"_Arrays.kt", 13579, "// line 13579"},
		32: {"_Arrays.kt", 13580, "// line 13580"}, 33: {"_Arrays.kt", 13581, ""}, 35: {},
	} {
		assert.Equal(t, want, with.Line("org.acme.MainKt::main", number))
		plain := Line{File: "Main.kt", Number: number}
		if number == 30 {
			plain.Text = "// main"
		}
		assert.Equal(t, plain, without.Line("org.acme.MainKt::main", number))
		assert.Equal(t, Line{File: "Other.kt", Number: number}, other.Line("org.acme.MainKt::main", number),
			"the class file is of another version")
	}
	all := finder(t, folderOf(t, map[string]string{"Main.kt": main}))
	library := archiveOf(t, map[string]string{"kotlin/collections/ArraysKt.class": string(classBytes("_Arrays.kt",
		""))})
	all.Know(nil, []string{jar, library})
	for _, place := range []classLine{{"org.acme.MainKt", 30}, {"org.acme.MainKt", 31},
		{"kotlin.collections.ArraysKt", 7}} {
		all.Line(place.class, place.line)
	}
	_, _, same := all.Missing()
	assert.Equal(t, []string{"2 of 3 lines have no source: kotlin.collections.* (" + filepath.Base(library) +
		": no file _Arrays.kt in the given roots)"}, same)

	changed := finder(t, folderOf(t, map[string]string{"Main.kt": main + "// more\n// lines\n",
		"gen/_Arrays.kt": arrays}))
	changed.Know(told, []string{jar})
	assert.Equal(t, Line{"_Arrays.kt", 13579, "// line 13579"}, changed.Line("org.acme.MainKt::main", 31))
	assert.Equal(t, Line{"Main.kt", 30, ""}, changed.Line("org.acme.MainKt::main", 30))
	_, _, same = changed.Missing()
	assert.Equal(t, []string{"1 of 2 lines have no source: org.acme.MainKt (Main.kt has 32 lines, and had 30 when it was compiled: it is another version)"}, same)

	_, missing, causes := without.Missing()
	assert.Equal(t, 4, missing)
	require.Len(t, causes, 1)
	assert.Contains(t, causes[0], "4 of 5 lines have no source: org.acme.MainKt (line 31 is beyond the end of Main.kt, which has 30: it is code of an inline function")
}

// TestClassFiles checks that the names of Groovy's and Clojure's source files are taken from the class files if the JVM
// did not report them.
func TestClassFiles(t *testing.T) {
	const clojureMap = "SMAP\ncore.java\nClojure\n*S Clojure\n*F\n+ 1 core.clj\nmy_app/core.clj\n*L\n1#1,1200:1\n*E"
	jar := archiveOf(t, map[string]string{
		"my_app/core$fn__12.class":                 string(classBytes("core.clj", clojureMap)),
		"org/acme/Named.class":                     string(classBytes("Script.groovy", "")),
		"org/acme/Absent.class":                    string(classBytes("Absent.groovy", "")),
		"org/acme/Absent$_run_closure1.class":      string(classBytes("Absent.groovy", "")),
		"org/acme/util/Lambdas.class":              string(classBytes("Main.kt", "")),
		"BOOT-INF/classes/org/acme/util/App.class": string(classBytes("Main.kt", "")),
	})
	f := finder(t, folderOf(t, languageSources))
	f.Know(nil, []string{jar})
	for class, want := range map[string]Line{
		"my_app.core$fn__12::invoke":            {"core.clj", 2, "(defn run [] 1)"},
		"org.acme.Named::run":                   {"Script.groovy", 2, "println 1"},
		"org.acme.Absent::run":                  {"Absent.groovy", 2, ""},
		"org.acme.Absent$_run_closure1::doCall": {"Absent.groovy", 2, ""},
	} {
		assert.Equal(t, want, f.Line(class, 2), class)
	}
	for _, class := range []string{"org.acme.util.Lambdas$$Lambda/0x0000000800c03000::get",
		"org.acme.util.Lambdas$$Lambda$14+0x1::get", "org.acme.util.App::main"} {
		assert.Equal(t, Line{"Main.kt", 3, "fun main() { }"}, f.Line(class, 3), class)
	}
	asked, missing, causes := f.Missing()
	assert.Equal(t, []int{7, 2}, []int{asked, missing})
	assert.Equal(t, []string{"2 of 7 lines have no source: org.acme.* (" + filepath.Base(jar) +
		": no file Absent.groovy in the given roots)"}, causes)
}
