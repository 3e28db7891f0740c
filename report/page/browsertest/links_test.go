package browsertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
)

// A link that was made for one run leads to the same method in the page of another run, to the same offset or, if the
// code is shorter there, to its end.
func TestLinkOfAnotherRun(t *testing.T) {
	p := openCode(t, look{})
	hash := eval[string](p, "location.hash")
	require.Contains(t, hash, "#m=Workload::main&t=c2")
	require.Contains(t, hash, "&o=0x")

	other := open(t, reportPage(t, "jdk25-lean-none"), hash, look{})
	other.awaits(`document.title.includes("Workload::main")`)
	assert.Contains(t, eval[string](other, "location.hash"), "#m=Workload::main&t=c2")
	offset := `parseInt(%s.split("-")[1], 16)`
	want, got := eval[int](p, offset, cursor), eval[int](other, offset, cursor)
	assert.LessOrEqual(t, got, want)
	assert.Greater(t, got, want-16, "an instruction has 15 bytes at most")

	for hash, notice := range map[string]string{
		"#m=Workload::nothere&o=0x10": "Workload::nothere has no code in this page.",
		"#m=%":                        "% has no code in this page.",
		"#c999-zz":                    "",
		"#p=nobody":                   "",
	} {
		other.open(reportPage(t, "jdk25-lean-none"), hash)
		other.awaits(`!document.querySelector("#overview").hidden`)
		assert.Equal(t, notice, other.text("#notice"), hash)
	}
}

// Names that the JDK generates can be in links, and are in the page unchanged.
func TestInit(t *testing.T) {
	ps := profiles(t, "sort")
	const name = `java.util.ArrayList$"x"</script>::<init>`
	ps.Trials[0].Listings = ps.Trials[0].Listings[:1]
	ps.Trials[0].Listings[0].Method = name
	path := pageOf(t, ps)
	p := open(t, path, "#c0", look{})
	p.awaits(`document.title === %q`, name+" – gasm")
	assert.Equal(t, name, p.text("#c0-h"))
	p.press("H")
	hash, at := eval[string](p, "location.hash"), eval[string](p, cursor)
	assert.NotContains(t, hash, "<")
	again := open(t, path, hash, look{})
	again.awaits(`%s === %q`, cursor, at)
}

// Names are shown as text, whatever they contain. They can't add an element or a script, or reverse the order of text.
func TestHostileNames(t *testing.T) {
	const evil = "</script><script>document.title=1</script><img src=x onerror=alert(1)>\"'`${1}&lt;--><!--\u202e\x1b[31m\u2028"
	ps := profiles(t, "jdk17-lean-none")
	ps.Trials[0].Listings = ps.Trials[0].Listings[:4]
	for i := range ps.Capture.JVMs {
		ps.Capture.JVMs[i].Log = nil
	}
	gasmtest.Inject(&ps.Capture, evil)
	gasmtest.Inject(&ps.Trials, evil)
	p := open(t, pageOf(t, ps), "", look{})
	assert.Zero(t, eval[int](p, `document.querySelectorAll("img").length`))
	assert.NotEqual(t, "1", eval[string](p, "document.title"))
	assert.False(t, eval[bool](p, `/[\u202e\u2028\x1b]/.test(document.documentElement.textContent)`))
	p.click("#p0-methods tbody a")
	p.awaits(`document.title.includes("<img src=x onerror=alert(1)>")`)
	p.press("j", "s", "o", "i", "f", "]", "/")
	p.awaits(`document.querySelector("#hits li")?.textContent.includes("<img")`)
	assert.Zero(t, eval[int](p, `document.querySelectorAll("img").length`))
}

// The colours show the heat by the chosen event.
func TestEvents(t *testing.T) {
	ps := profiles(t, "sort")
	addEvent(ps)
	p := open(t, pageOf(t, ps), "#c0", look{})
	p.awaits(`document.documentElement.classList.contains("in-code")`)
	hot := eval[string](p, cursor)
	p.press("e")
	assert.Contains(t, p.text("#where"), "heat and order are by cache-misses")
	p.press("H")
	assert.NotEqual(t, hot, eval[string](p, cursor))
	p.press("e", "H")
	assert.Equal(t, hot, eval[string](p, cursor))
}

// addEvent adds an event. The fewer samples an instruction has of the first event, the more it has of the added one.
func addEvent(ps *profile.Profiles) {
	p := &ps.Trials[0]
	p.Listings = p.Listings[:1]
	l := &p.Listings[0]
	l.Parts, p.Parts = nil, nil
	var sum int64
	for i := range l.Lines {
		n := l.Lines[i].Counts[0]
		if n > 0 {
			n = 1000/n + 1
		}
		l.Lines[i].Counts = append(l.Lines[i].Counts[:1:1], n)
		sum += n
	}
	l.Counts, l.Beside = append(l.Counts[:1:1], sum), append(l.Beside[:1:1], 0)
	p.Hottest, p.HotLoops, p.Regions, p.Methods, p.Frames, p.Native, p.Sources, p.Threads, p.Compilations =
		nil, nil, nil, nil, nil, nil, nil, nil, nil
	p.Counters = append(p.Counters[:1:1], "cache-misses")
	account := p.Accounts[0]
	account.Profiled, account.Total = sum, sum
	p.Accounts = append(p.Accounts[:1:1], account)
}
