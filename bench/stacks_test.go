package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOverlap(t *testing.T) {
	check := func(want float64, a, b shares) {
		t.Helper()
		assert.InDelta(t, want, overlap(a, b), 1e-9)
		assert.InDelta(t, want, overlap(b, a), 1e-9)
	}
	check(1, shares{"a": 0.25, "b": 0.75}, shares{"a": 0.25, "b": 0.75})
	check(0, shares{"a": 1}, shares{"b": 1})
	check(0.75, shares{"a": 0.5, "b": 0.5}, shares{"a": 0.25, "b": 0.5, "c": 0.25})
	check(0.8, shares{"a": 1, "b": 1}, shares{"a": 1, "b": 1, "c": 1}) // totals of methods
}

// methods returns the stack of these methods.
func methods(names ...string) stackSample { return stackSample{methods: names} }

func TestAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var a, b []stackSample
	for i := range 4000 {
		a = append(a, methods("run", []string{"find", "sort"}[i%2]))
		b = append(b, methods("run", []string{"find", "find", "find", "sort"}[i%4]))
	}
	g := views[0].agree(a, b, random)
	assert.InDelta(t, 0.75, g.both, 0.03)
	assert.InDelta(t, 1, g.halvesA, 0.05)
	assert.InDelta(t, 1, g.halvesB, 0.05)
	assert.Zero(t, views[0].agree(nil, b, random))
}

func TestViews(t *testing.T) {
	deep := methods(strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 12 13")...)
	deep.inlined = 2
	var got []string
	for _, v := range views {
		got = append(got, strings.Join(v.keys(deep), " "))
	}
	assert.Equal(t, []string{"1;2;3;4;5;6;7;8;9;10;11;12;12;13", "1;2;3;4;5;6;7;8;9;10;11;12",
		"1;2;3;4;5;6;7;8;9;10;11;12", "1 10 11 12 13 2 3 4 5 6 7 8 9", "13"}, got)
	var b strings.Builder
	views[4].writeDifferences(&b, []stackSample{methods("x"), methods("y")},
		[]stackSample{methods("x"), methods("x"), methods("x"), methods("z")}, 2)
	assert.Equal(t, "methods' own: gasm, async-profiler\n 50.00%   0.00%  y\n 50.00%  75.00%  x\n", b.String())
}

// Where one profiler loses callers, the other one's samples are left out, too.
func TestWalkable(t *testing.T) {
	lost, index, sort := methods("indexOf"), methods("run", "find", "indexOf"), methods("run", "sort")
	lost.broken = true
	inlined := methods("run", "indexOf", "compare")
	inlined.inlined = 1
	a, b := walkable([]stackSample{index, sort, inlined}, []stackSample{lost, index, sort, sort})
	assert.Equal(t, []stackSample{sort}, a)
	assert.Equal(t, []stackSample{sort, sort}, b)
}

func TestParseAnnotated(t *testing.T) {
	p, err :=
		parseAnnotated([]byte("clone3;start_thread;JavaMain;org/acme/Main.main_[0];java/util/Map.get_[j];java/lang/String.equals_[i] 2\n" +
			"[unknown_Java];java/lang/String.indexOf_[1];sys_read_[k] 3\nclone3;G1 Conc#1 5\n"))
	require.NoError(t, err)
	whole, broken := methods("org.acme.Main.main", "java.util.Map.get",
		"java.lang.String.equals"), methods("java.lang.String.indexOf")
	whole.inlined, broken.broken = 1, true
	assert.Equal(t, &profiledStacks{samples: []stackSample{whole, whole, broken, broken, broken}, all: 10, broken: 3}, p)
	_, err = parseAnnotated([]byte("main;run\n"))
	assert.ErrorContains(t, err, "no number of samples")
}

// The two profilers write the names of hidden classes differently.
func TestNormalName(t *testing.T) {
	check := func(want string, names ...string) {
		t.Helper()
		for _, name := range names {
			assert.Equal(t, want, normalName(name), name)
		}
	}
	check("java.util.HashMap.get", "java.util.HashMap::get", "java/util/HashMap.get")
	check("org.acme.Shop$$Lambda.test", "org.acme.Shop$$Lambda/0x00007f1e8c0a1000::test",
		"org/acme/Shop$$Lambda.0x00007f1e8c0a1000.test",
		"org/acme/Shop$$Lambda+0x00007f1e8c0a1000.test", "org.acme.Shop$$Lambda$14/0x0000000800c03000::test",
		"org/acme/Shop$$Lambda$14.test")
	check("java.lang.invoke.LambdaForm$MH.invoke", "java.lang.invoke.LambdaForm$MH/0x00007f1e8c0a1000::invoke",
		"java/lang/invoke/LambdaForm$MH.0x00007f1e8c0a1000.invoke")
	check("java.lang.invoke.MethodHandle.invokeBasic", "java.lang.invoke.MethodHandle::invokeBasic(L)L",
		"java/lang/invoke/MethodHandle.invokeBasic")
	check("jdk.proxy2.$Proxy14.name", "jdk.proxy2.$Proxy14::name")
}
