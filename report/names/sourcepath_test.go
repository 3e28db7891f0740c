package names

import "testing"

func TestSourceFile(t *testing.T) {
	for method, want := range map[string]string{
		"Workload::main":                                     "Workload.java",
		"java.util.HashMap$Node::<init>":                     "java/util/HashMap.java",
		"org.sample.Main$$Lambda/0x00007fd8c3001000::run":    "org/sample/Main.java",
		"org.sample.Main$$Lambda$14/0x0000000800c03000::run": "org/sample/Main.java",
		"java.lang.invoke.LambdaForm$MH/0x1::invoke":         "java/lang/invoke/LambdaForm.java",
		"org.sample.Hidden/0x1::run":                         "org/sample/Hidden.java",
		"jdk.proxy2.$Proxy5::run":                            "",
		"itbl[0]":                                            "",
	} {
		if got := SourcePath(method, ""); got != want {
			t.Errorf("%s: got %q, want %q", method, got, want)
		}
	}
	for method, want := range map[string]string{"a.b.C$D::e": "a/b/F.kt", "C::e": "F.kt", "a.$Proxy5/0x1::run": "a/F.kt"} {
		if got := SourcePath(method, "F.kt"); got != want {
			t.Errorf("%s: got %q, want %q", method, got, want)
		}
	}
}
