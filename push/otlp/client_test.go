package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/profiles/v1development"
	v1 "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/push/web"
)

// A server decodes requests with the official messages.
type server struct {
	mu       sync.Mutex
	requests []*collector.ExportProfilesServiceRequest
	headers  http.Header
	n        int
	// answer, if it is not nil, is called first with each request. If it returns true, it has answered the request
	// itself.
	answer func(n int, w http.ResponseWriter) bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.headers = r.Header
	if s.answer != nil && s.answer(s.n, w) {
		return
	}
	req, err := decode(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.requests = append(s.requests, req)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func decode(r *http.Request) (*collector.ExportProfilesServiceRequest, error) {
	if r.URL.Path != "/v1development/profiles" || r.Method != http.MethodPost ||
		r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("Content-Encoding") != "gzip" {
		return nil, fmt.Errorf("%s %s %v", r.Method, r.URL.Path, r.Header)
	}
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	var req collector.ExportProfilesServiceRequest
	return &req, proto.Unmarshal(text, &req)
}

// shopProfile returns a profile with three stacks, of which two share frames, and with a location that has an inlined
// method.
func shopProfile(t *testing.T) *push.Profile {
	t.Helper()
	code := &pprof.Mapping{ID: 1, File: "[code cache]", Start: 0x1000, Limit: 0x2000}
	libc := &pprof.Mapping{ID: 2, File: "/usr/lib/libc.so.6"}
	marks := &pprof.Mapping{ID: 3, File: "[stack]"}
	functions := []*pprof.Function{{ID: 1, Name: "org.acme.Shop::main", Filename: "org/acme/Shop.java"},
		{ID: 2, Name: "org.acme.Cart::sum", Filename: "org/acme/Cart.java"}, {ID: 3, Name: "memcpy"}, {ID: 4, Name: "[cut]"}}
	main := &pprof.Location{ID: 1, Mapping: code, Line: []pprof.Line{{Function: functions[1], Line: 40},
		{Function: functions[0], Line: 12}}}
	memcpy := &pprof.Location{ID: 2, Mapping: libc, Line: []pprof.Line{{Function: functions[2]}}}
	cut := &pprof.Location{ID: 3, Mapping: marks, Line: []pprof.Line{{Function: functions[3]}}}
	cpu := &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"}
	p := pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}, cpu}, PeriodType: cpu, Period: 1e7,
		TimeNanos: 1_800_000_000_000_000_000, DurationNanos: 15e9,
		Mapping: []*pprof.Mapping{code, libc, marks}, Location: []*pprof.Location{main, memcpy, cut}, Function: functions,
		Sample: []*pprof.Sample{{Location: []*pprof.Location{main}, Value: []int64{7, 7e7}},
			{Location: []*pprof.Location{memcpy, main}, Value: []int64{2, 2e7}},
			{Location: []*pprof.Location{memcpy, cut}, Value: []int64{1, 1e7}}}}
	var b bytes.Buffer
	require.NoError(t, p.Write(&b))
	return &push.Profile{ID: "00112233-4455-4677-8899-aabbccddeeff", To: time.Now(), Samples: 10, CPUNanos: 1e8,
		Pprof: b.Bytes(), Labels: []push.Label{{Name: "host.name", Value: "h"}, {Name: "process.pid", Value: "4711"},
			{Name: "service.name", Value: "shop"}}}
}

func client(t *testing.T, url string) (c *Client, said *[]string) {
	t.Helper()
	said = new([]string)
	c, err := New(web.Options{URL: url, Gasm: "1"}, func(text string) { *said = append(*said, text) })
	require.NoError(t, err)
	return c, said
}

// stacksOf returns the values of a profile by stack, as a reader of the protocol finds them. Frames are listed from the
// innermost to the outermost.
func stacksOf(t *testing.T, d *v1.ProfilesDictionary, p *v1.Profile) map[string]int64 {
	all := map[string]int64{}
	for _, s := range p.Samples {
		var stack []string
		for _, i := range d.StackTable[s.StackIndex].LocationIndices {
			l := d.LocationTable[i]
			for _, line := range l.Lines {
				f := d.FunctionTable[line.FunctionIndex]
				frame := d.StringTable[f.NameStrindex] + " " + d.StringTable[f.FilenameStrindex] + fmt.Sprintf(":%d ", line.Line)
				frame += d.StringTable[d.MappingTable[l.MappingIndex].FilenameStrindex]
				for _, a := range l.AttributeIndices {
					frame += " " + d.StringTable[d.AttributeTable[a].KeyStrindex] + "=" + d.AttributeTable[a].Value.GetStringValue()
				}
				stack = append(stack, frame)
			}
		}
		require.Len(t, s.Values, 1)
		key := strings.Join(stack, "; ")
		assert.NotContains(t, all, key)
		all[key] = s.Values[0]
	}
	return all
}

func TestSend(t *testing.T) {
	s := &server{}
	site := httptest.NewServer(s)
	defer site.Close()
	c, said := client(t, site.URL)
	require.NoError(t, c.Send(t.Context(), shopProfile(t)))
	require.Len(t, s.requests, 1)
	assert.Equal(t, "1", s.headers.Get("otlp-profiles-development-version"))
	r := s.requests[0]
	require.Len(t, r.ResourceProfiles, 1)
	attributes := map[string]string{}
	for _, a := range r.ResourceProfiles[0].Resource.Attributes {
		attributes[a.Key] = a.Value.String()
	}
	assert.Equal(t, map[string]string{"host.name": `string_value:"h"`, "process.pid": `int_value:4711`,
		"service.name": `string_value:"shop"`}, attributes)
	d := r.Dictionary
	for name, ok := range map[string]bool{"string": d.StringTable[0] == "",
		"mapping": proto.Equal(d.MappingTable[0], &v1.Mapping{}), "location": proto.Equal(d.LocationTable[0], &v1.Location{}),
		"function": proto.Equal(d.FunctionTable[0], &v1.Function{}), "stack": proto.Equal(d.StackTable[0], &v1.Stack{}),
		"attribute": proto.Equal(d.AttributeTable[0], &v1.KeyValueAndUnit{}), "link": len(d.LinkTable) == 1} {
		assert.True(t, ok, "the first entry of the table %s is the zero value", name)
	}
	all := r.ResourceProfiles[0].ScopeProfiles[0].Profiles
	require.Len(t, all, 2)
	const cart = "org.acme.Cart::sum org/acme/Cart.java:40 [code cache] profile.frame.type=jvm; " +
		"org.acme.Shop::main org/acme/Shop.java:12 [code cache] profile.frame.type=jvm"
	const memcpy = "memcpy :0 /usr/lib/libc.so.6 profile.frame.type=native; "
	for i, want := range []struct {
		kind string
		each int64
		id   byte
	}{{"samples count", 1, 0xff}, {"cpu nanoseconds", 1e7, 0xfe}} {
		p := all[i]
		assert.Equal(t, want.kind, d.StringTable[p.SampleType.TypeStrindex]+" "+d.StringTable[p.SampleType.UnitStrindex])
		assert.Equal(t, "cpu", d.StringTable[p.PeriodType.TypeStrindex])
		assert.EqualValues(t, 1e7, p.Period)
		assert.EqualValues(t, 1_800_000_000_000_000_000, p.TimeUnixNano)
		assert.EqualValues(t, 15e9, p.DurationNano)
		assert.Equal(t, want.id, p.ProfileId[15])
		assert.Equal(t, map[string]int64{cart: 7 * want.each, memcpy + cart: 2 * want.each,
			memcpy + "[cut] :0 [stack]": want.each}, stacksOf(t, d, p))
	}
	assert.Empty(t, *said)
	require.ErrorContains(t, c.Send(t.Context(), &push.Profile{Pprof: []byte("x")}), "reading the profile: ")
}

// status returns a google.rpc.Status.
func status(message string) []byte {
	b := protowire.AppendTag(nil, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, 13)
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	return protowire.AppendString(b, message)
}

func TestAnswers(t *testing.T) {
	partial := func(rejected int64, message string) []byte {
		b, err := proto.Marshal(&collector.ExportProfilesServiceResponse{
			PartialSuccess: &collector.ExportProfilesPartialSuccess{RejectedProfiles: rejected, ErrorMessage: message}})
		require.NoError(t, err)
		return b
	}
	const wrongPath = "it answers 200 but not as OTLP's /v1development/profiles does: is the path of the URL right?"
	for _, test := range []struct {
		name    string
		code    int
		kind    string
		body    []byte
		refused string // the reason, if the profile is refused
		busy    string // the reason, if the profile is to be sent again
		said    []string
	}{
		{"all is well", 200, kind, nil, "", "", nil},
		{"partial", 200, kind, partial(1, "too old"), "it has rejected 1 of the request's profiles: too old", "", nil},
		{"a warning", 200, kind, partial(0, "be quick"), "", "", []string{"accepts profiles, but warns: be quick"}},
		{"a page", 200, "text/html", []byte("<!doctype html>"), wrongPath, "", nil},
		{"damage", 200, kind, []byte{0xff}, wrongPath, "", nil},
		{"400", 400, kind, status("bad version"), "it answers 400: bad version", "", nil},
		{"400 in plain text", 400, "text/plain", []byte("bad\n"), "it answers 400: bad", "", nil},
		{"400, damaged", 400, kind, []byte{0x12, 0xff}, "it answers 400", "", nil},
		{"429", 429, kind, status("later"), "", "it answers 429: later", nil},
		{"503", 503, kind, nil, "", "it answers 503", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(test.code)
				_, _ = w.Write(test.body)
			}))
			defer site.Close()
			c, said := client(t, site.URL)
			err := c.Send(t.Context(), shopProfile(t))
			switch {
			case test.refused != "":
				assert.Equal(t, &push.RefusedError{Reason: test.refused}, err)
			case test.busy != "":
				assert.Equal(t, &push.BusyError{Reason: test.busy}, err)
			default:
				require.NoError(t, err)
			}
			for i := range *said {
				(*said)[i] = strings.TrimPrefix((*said)[i], "otlp+"+site.URL+": ")
			}
			assert.Equal(t, test.said, append([]string(nil), *said...))
		})
	}
}

// TestQueue checks that a profile arrives once at a server that is busy and broken at first.
func TestQueue(t *testing.T) {
	s := &server{answer: func(n int, w http.ResponseWriter) bool {
		switch n {
		case 1:
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			return false
		}
		return true
	}}
	site := httptest.NewServer(s)
	defer site.Close()
	c, _ := client(t, site.URL)
	q := push.NewQueue(c, func(text string) { t.Log(text) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go q.Run(ctx)
	q.Add(shopProfile(t))
	assert.Equal(t, push.Stats{Sent: 1, Retries: 2}, q.Close(ctx))
	assert.Len(t, s.requests, 1)
}

// FuzzAnswer checks that no answer of a server is taken for a success if it is not one.
func FuzzAnswer(f *testing.F) {
	f.Add(200, []byte{})
	f.Add(400, status("bad"))
	f.Add(200, []byte{0x0a, 0x04, 0x08, 0x01, 0x12, 0x00})
	c := &Client{web: &web.Client{}, say: func(string) {}}
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		err := func() error {
			defer func() { require.Nil(t, recover()) }()
			c.said = time.Now()
			return c.judge(&web.Answer{Code: code, Kind: kind, Body: body})
		}()
		refused, _ := errors.AsType[*push.RefusedError](err)
		if refused != nil {
			assert.Less(t, len(refused.Reason), 300)
		}
		if err == nil {
			assert.Equal(t, 200, code)
		}
	})
}
