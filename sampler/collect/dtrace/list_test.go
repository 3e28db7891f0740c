package dtrace

import (
	"reflect"
	"testing"
)

// TestListedProbes parses what dtrace -l prints on Linux. One function has a name that contains blanks.
func TestListedProbes(t *testing.T) {
	got := listedProbes(`   ID   PROVIDER            MODULE                          FUNCTION NAME
 4057 hotspot7103         libjvm.so                       Unsafe_Park thread-park-end
 4047 hotspot_jni7103     libjvm.so             _ZN10JavaThread3runEv AllocObject-entry
 4049 hotspot7103      libjvm.dylib JavaThread::run(bool, Thread*) thread-start

dtrace: failed to match hs_private7103:::: No probe matches description
`)
	want := []Probe{{"hotspot7103", "thread-park-end"}, {"hotspot_jni7103", "AllocObject-entry"},
		{"hotspot7103", "thread-start"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
