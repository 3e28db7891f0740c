package sdt

import (
	"fmt"
	"strings"
	"testing"
)

func TestMethod(t *testing.T) {
	check := func(m Method, want string) {
		t.Helper()
		entry, ret, err := m.Probes(6)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d %s %s [%s] %d %s [%s]", entry.Site, entry.Name, entry.Symbol,
			AMD64.arguments(entry.Values), ret.Site, ret.Name, ARM64.arguments(ret.Values))
		if got != want {
			t.Errorf("%v:\n got %s\nwant %s", m, got, want)
		}
		if ret.Symbol != entry.Symbol {
			t.Errorf("%v: the return is in %s, the entry in %s", m, ret.Symbol, entry.Symbol)
		}
	}
	check(Method{Class: "org/acme/Svc", Name: "tiny", Descriptor: "(ILjava/lang/String;)J"},
		"6 Svc.tiny__entry org.acme.Svc.tiny(int,String) [-8@%rdi -8@%rsi 8@%rdx] 7 Svc.tiny__return [-8@x0 -8@x1 8@x2]")
	check(Method{Class: "Svc", Name: "name", Descriptor: "()Ljava/lang/String;", Static: true},
		"6 Svc.name__entry Svc.name() [-8@%rdi] 7 Svc.name__return [-8@x0 8@x1 8@x2]")
	check(Method{Class: "a/Outer$Inner", Name: "<init>", Descriptor: "([[ILa/B$C;[Ljava/lang/String;LD;)V"},
		"6 Outer.Inner.init__entry a.Outer$Inner.<init>(int[][],B$C,String[],D) [-8@%rdi -8@%rsi -8@%rdx -8@%rcx -8@%r8] 7 Outer.Inner.init__return [-8@x0 -8@x1 8@x2]")
	check(Method{Class: "a/Größe", Name: "a:b\n-c", Descriptor: "(ZBCSJFDII)V"},
		"6 Gr__e.a_b__c__entry a.Gr__e.a_b_-c(boolean,byte,char,short,long,float,double,int,int) "+
			"[-8@%rdi -8@%rsi -8@%rdx -8@%rcx -8@%r8 -8@%r9 -8@%rax -8@%r10] 7 Gr__e.a_b__c__return [-8@x0 -8@x1 8@x2]")
	check(Method{Class: "aZ09_/azAZ09_", Name: "az`{@[/:", Descriptor: "()V"}, // next to letters and digits in ASCII
		"6 azAZ09_.az________entry aZ09_.azAZ09_.az`{@[._() [-8@%rdi] 7 azAZ09_.az________return [-8@x0 -8@x1 8@x2]")
	long := Method{Class: "p/" + strings.Repeat("Long", 100), Name: "method", Descriptor: "()V"}
	check(long, "6 "+strings.Repeat("Long", 100)[400-maxName+7:]+".method__entry "+strings.Repeat("Long",
		100)[400-maxSymbol+9:]+".method() [-8@%rdi] 7 "+
		strings.Repeat("Long", 100)[400-maxName+7:]+".method__return [-8@x0 -8@x1 8@x2]")

	for _, bad := range []string{"", "()", "(", "(I", "()I)", "(V)V", "(L;)V", "(Lx)V", "([V)V", "([)V", "()VV", "I",
		"(Q)V", "()[V"} {
		if _, _, err := (Method{Class: "A", Name: "b", Descriptor: bad}).Probes(0); err == nil {
			t.Errorf("%q is taken for a descriptor", bad)
		}
	}
}
