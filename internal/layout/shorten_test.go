package layout

import (
	"strings"
	"testing"
)

const generated = "org.openjdk.jmh.samples.jmh_generated.JMHSample_08_DeadCode_measureRight_jmhTest::measureRight_avgt_jmhStub"

func TestShortMethod(t *testing.T) {
	check := func(name string, width int, want string) {
		t.Helper()
		if got := ShortMethod(name, width, "…"); got != want {
			t.Errorf("%q in %d: got %q, want %q", name, width, got, want)
		}
	}
	const hash = "java.util.HashMap::hash"
	check(hash, 23, hash)
	check(hash, 22, "j.util.HashMap::hash")
	check(hash, 17, "j.u.HashMap::hash")
	check(hash, 16, "…u.HashMap::hash") // too little of HashMap would remain
	check(hash, 5, "…hash")
	const lambda = "pkg.Spread$$Lambda/0x000000003a043920::apply"
	check(lambda, 44, lambda)
	check(lambda, 43, "pkg.Spread$$Lambda/0x3a043920::apply")
	check(lambda, 33, "p.Spread$$Lam…a/0x3a043920::apply")
	check(generated, 50, "o.o.j.s.j.JMHSample_08…::measureRight_avgt_jmhStub")
	check(generated, 30, "…st::measureRight_avgt_jmhStub")
	check("Workload::<init>", 16, "Workload::<init>")
	check("ünï.Cläss::méthode", 16, "ü.Cläss::méthode")
	check("invokevirtual codelet", 11, "invok…delet")
	check("StubRoutines::jlong_disjoint_arraycopy", 38, "StubRoutines::jlong_disjoint_arraycopy")
	check("StubRoutines::jlong_disjoint_arraycopy", 33, "StubRo…::jlong_disjoint_arraycopy")
}

// TestShortMethodOfManyPackages checks that shortening a name with tens of thousands of packages, as a hostile class
// has it, takes time in proportion to the name's length: the name is not copied for each package.
func TestShortMethodOfManyPackages(t *testing.T) {
	name := strings.Repeat("ab.", 2000) + "Class::method"
	allocations := testing.AllocsPerRun(1, func() {
		if got, want := ShortMethod(name, 4013, "…"), strings.Repeat("a.", 2000)+"Class::method"; got != want {
			t.Errorf("got %d bytes, want %d", len(got), len(want))
		}
	})
	if allocations > 100 {
		t.Errorf("%.0f allocations", allocations)
	}
}
