package event

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSiteRule checks that places are named by the innermost frame of the program itself or, if there is none, by the
// innermost frame.
func TestSiteRule(t *testing.T) {
	for _, c := range []struct {
		stack          string // innermost first
		parked         bool
		own, innermost string
	}{
		{"java.util.HashMap::resize java.util.HashMap::put com.acme.Handler::get java.lang.Thread::run", false,
			"com.acme.Handler::get", "java.util.HashMap::resize"},
		{"com.acme.Handler::get com.acme.Server::run", false, "com.acme.Handler::get", "com.acme.Handler::get"},
		{"java.util.Arrays::copyOf java.lang.Thread::run", false, "java.util.Arrays::copyOf", "java.util.Arrays::copyOf"},
		{"jdk.internal.misc.Unsafe::park java.util.concurrent.locks.LockSupport::park javax.swing.A::b com.sun.c.D::e", true,
			"javax.swing.A::b", "javax.swing.A::b"},
		{"jdk.internal.misc.Unsafe::park java.util.concurrent.locks.LockSupport::park java.util.concurrent.FutureTask::get javafx.A::b", true, "javafx.A::b", "java.util.concurrent.FutureTask::get"},
		{"sun.misc.Unsafe::park java.util.concurrent.locks.LockSupport::park", true, "", ""},
		{"", false, "", ""},
	} {
		e := Event{Kind: Alloc}
		if c.parked {
			e.Kind = Park
		}
		for _, m := range strings.Fields(c.stack) {
			e.Frames = append(e.Frames, Frame{Method: m})
		}
		assert.Equal(t, c.own, SiteOwn.Site(&e).Method, c.stack)
		assert.Equal(t, c.own, SiteRule("").Site(&e).Method, c.stack)
		assert.Equal(t, c.innermost, SiteInnermost.Site(&e).Method, c.stack)
	}
}
