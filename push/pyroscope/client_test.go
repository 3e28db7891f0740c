package pyroscope

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/push/web"
)

// A server checks requests as Pyroscope does, and adds up the samples that it receives.
type server struct {
	t  *testing.T
	mu sync.Mutex
	// answer, if it is not nil, is called first with each request. If it returns true, it has answered the request
	// itself.
	answer  func(n int, w http.ResponseWriter, r *http.Request) bool
	n       int // number of requests
	ids     map[string]int
	sums    map[string]int64 // by service and type of sample
	headers http.Header      // of the last request
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.n++
	n := s.n
	s.headers = r.Header
	s.mu.Unlock()
	if s.answer != nil && s.answer(n, w, r) {
		return
	}
	if r.URL.Path != "/prefix/push.v1.PusherService/Push" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Pyroscope</title>")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := s.take(r); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"code":"invalid_argument","message":%q}`, err)
		return
	}
	fmt.Fprint(w, "{}")
}

func (s *server) take(r *http.Request) error {
	var body request
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || r.Method != http.MethodPost ||
		r.Header.Get("Content-Type") != "application/json" {
		return fmt.Errorf("no request: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, series := range body.Series {
		labels := map[string]string{}
		for _, l := range series.Labels {
			if _, twice := labels[l.Name]; twice || strings.Contains(l.Name, ".") {
				return fmt.Errorf("label %s", l.Name)
			}
			labels[l.Name] = l.Value
		}
		if labels["__name__"] == "" || labels["service_name"] == "" {
			return errors.New("no name")
		}
		for _, sample := range series.Samples {
			p, err := pprof.Parse(bytes.NewReader(sample.RawProfile))
			if err != nil {
				return err
			}
			s.ids[sample.ID]++
			for _, x := range p.Sample {
				for i, v := range x.Value {
					s.sums[labels["service_name"]+" "+p.SampleType[i].Type] += v
				}
			}
		}
	}
	return nil
}

func newServer(t *testing.T) *server {
	return &server{t: t, ids: map[string]int{}, sums: map[string]int64{}}
}

// profileOf returns a profile with one stack.
func profileOf(t *testing.T, id string, samples int64) *push.Profile {
	t.Helper()
	f := &pprof.Function{ID: 1, Name: "org.acme.Shop::main"}
	l := &pprof.Location{ID: 1, Line: []pprof.Line{{Function: f, Line: 12}}}
	p := pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"},
		{Type: "cpu", Unit: "nanoseconds"}},
		Sample:   []*pprof.Sample{{Location: []*pprof.Location{l}, Value: []int64{samples, samples * 1e7}}},
		Location: []*pprof.Location{l}, Function: []*pprof.Function{f}}
	var b bytes.Buffer
	require.NoError(t, p.Write(&b))
	return &push.Profile{ID: id, To: time.Now(), Samples: samples, Pprof: b.Bytes(),
		Labels: []push.Label{{Name: "host.name", Value: "h"}, {Name: push.ServiceName, Value: "shop"}}}
}

func client(t *testing.T, url string, change func(*web.Options)) *Client {
	t.Helper()
	o := web.Options{URL: url + "/prefix/", Gasm: "1"}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	require.NoError(t, err)
	return c
}

func fileWith(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestSend(t *testing.T) {
	s := newServer(t)
	site := httptest.NewServer(s)
	defer site.Close()
	c := client(t, site.URL, func(o *web.Options) { o.Tenant = "team-a" })
	for i := range 3 {
		require.NoError(t, c.Send(t.Context(), profileOf(t, fmt.Sprint(i), int64(i+1))))
	}
	assert.Equal(t, map[string]int{"0": 1, "1": 1, "2": 1}, s.ids)
	assert.Equal(t, map[string]int64{"shop samples": 6, "shop cpu": 6e7}, s.sums)
	assert.Equal(t, "team-a", s.headers.Get("X-Scope-OrgID"))
	assert.Equal(t, "gasm/1", s.headers.Get("User-Agent"))
	assert.Empty(t, s.headers.Get("Authorization"))
}

// TestSecrets checks that tokens and passwords are sent, that they are read again when their file was replaced, and
// that they are in no message, even if the server repeats them.
func TestProfileNames(t *testing.T) {
	for kind, want := range map[push.Kind]string{push.CPU: "process_cpu", push.Lock: "mutex", push.Alloc: "memory"} {
		labels := labelsOf(&push.Profile{Kind: kind, Labels: []push.Label{{Name: "host.name", Value: "h"}}})
		assert.Equal(t, []label{{"__name__", want}, {"host_name", "h"}}, labels)
	}
}

func TestSecrets(t *testing.T) {
	s := newServer(t)
	s.answer = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"code":"unauthenticated","message":"%s is wrong"}`, r.Header.Get("Authorization"))
		return true
	}
	site := httptest.NewServer(s)
	defer site.Close()
	token, basic := fileWith(t, "t0ken\n"), fileWith(t, "me:pa:ss")
	for _, test := range []struct {
		change func(*web.Options)
		header string
	}{
		{func(o *web.Options) { o.TokenFile = token }, "Bearer t0ken"},
		{func(o *web.Options) { o.BasicFile = basic }, "Basic bWU6cGE6c3M="},
	} {
		c := client(t, site.URL, test.change)
		err := c.Send(t.Context(), profileOf(t, "a", 1))
		assert.Equal(t, test.header, s.headers.Get("Authorization"))
		refused, ok := errors.AsType[*push.RefusedError](err)
		require.True(t, ok)
		kind, _, _ := strings.Cut(test.header, " ")
		assert.Equal(t, "it answers 401: unauthenticated "+kind+" *** is wrong", refused.Reason)
	}
	c := client(t, site.URL, func(o *web.Options) { o.TokenFile = token })
	require.NoError(t, os.WriteFile(token, []byte("second"), 0o600))
	require.Error(t, c.Send(t.Context(), profileOf(t, "a", 1)))
	assert.Equal(t, "Bearer second", s.headers.Get("Authorization"))
	require.NoError(t, os.Remove(token))
	assert.ErrorIs(t, c.Send(t.Context(), profileOf(t, "a", 1)), os.ErrNotExist, "to be tried again")
}

// TestAnswers checks after which answers a profile is sent again, and after which it is not.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name    string
		answer  http.HandlerFunc
		refused string        // the reason, if the profile is refused
		busy    string        // the reason, if the profile is to be sent again
		after   time.Duration // the pause before that
	}{
		{"429", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(429)
			fmt.Fprint(w, `{"code":"resource_exhausted","message":"too much"}`)
		}, "", "it answers 429: resource_exhausted too much", 7 * time.Second},
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "", "it answers 500", 0},
		{"503 of a proxy", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<h1>no</h1>", http.StatusServiceUnavailable)
		}, "", "it answers 503", 0},
		{"408", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(408) }, "", "it answers 408", 0},
		{"400", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"code":"invalid_argument","message":"%s"}`, strings.Repeat("x", 1000))
		}, "it answers 400: " + "invalid_argument " + strings.Repeat("x", 183) + "…", "", 0},
		{"404", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, "it answers 404", "", 0},
		{"413", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(413) }, "it answers 413", "", 0},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html>") },
			"it answers 200 but not as Pyroscope's /push.v1.PusherService/Push does: is the path of the URL right?", "", 0},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{")
		}, "it answers 200 but not as Pyroscope's /push.v1.PusherService/Push does: is the path of the URL right?", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := httptest.NewServer(test.answer)
			defer site.Close()
			err := client(t, site.URL, nil).Send(t.Context(), profileOf(t, "a", 1))
			if test.refused != "" {
				assert.Equal(t, &push.RefusedError{Reason: test.refused}, err)
			} else {
				assert.Equal(t, &push.BusyError{Reason: test.busy, After: test.after}, err)
			}
		})
	}
}

// TestRedirects checks that a redirect to another host or to plain HTTP is not followed, so that nobody else gets the
// profile, and that a redirect within the server is followed.
func TestRedirects(t *testing.T) {
	other := newServer(t)
	thief := httptest.NewServer(other)
	defer thief.Close()
	s := newServer(t)
	target := thief.URL
	s.answer = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/prefix/push.v1.PusherService/Push" && n == 1 {
			http.Redirect(w, r, target+"/prefix/push.v1.PusherService/Push?again", http.StatusTemporaryRedirect)
			return true
		}
		return false
	}
	site := httptest.NewServer(s)
	defer site.Close()
	err := client(t, site.URL, nil).Send(t.Context(), profileOf(t, "a", 1))
	assert.Equal(t, &push.RefusedError{Reason: "it answers 307, a redirect that gasm does not follow"}, err)
	assert.Zero(t, other.n)
	s.n, target = 0, ""
	require.NoError(t, client(t, site.URL, nil).Send(t.Context(), profileOf(t, "a", 1)))
	assert.Equal(t, 2, s.n)
	assert.Equal(t, map[string]int{"a": 1}, s.ids)
	s.answer = func(_ int, w http.ResponseWriter, r *http.Request) bool { // redirects without end
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		return true
	}
	require.Error(t, client(t, site.URL, nil).Send(t.Context(), profileOf(t, "b", 1)))
}

// TestHostileServer checks that a server that answers without end, with huge headers, or not at all costs no more than
// its request.
func TestHostileServer(t *testing.T) {
	var written atomic.Int64
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for written.Load() < 1<<30 {
			n, err := w.Write(bytes.Repeat([]byte(" "), 1<<16))
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"endless answer": endless,
		"endless failure": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			endless(w, r)
		},
		"huge headers": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 1000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
		},
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		},
		"cut answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			site := httptest.NewServer(answer)
			defer site.Close()
			require.Error(t, client(t, site.URL, nil).Send(t.Context(), profileOf(t, "a", 1)))
		})
	}
	assert.Less(t, written.Load(), int64(64<<20), "the rest is not read") // less, but sockets have buffers
	t.Run("silent", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		c := client(t, "http://"+listener.Addr().String(), nil)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err = c.Send(ctx, profileOf(t, "a", 1))
		require.Error(t, err)
		_, refused := errors.AsType[*push.RefusedError](err)
		assert.False(t, refused, "it is tried again")
	})
}

// TestTLS checks that a self-signed certificate is refused, unless it is in CAFile.
func TestTLS(t *testing.T) {
	s := newServer(t)
	site := httptest.NewTLSServer(s)
	defer site.Close()
	site.Config.ErrorLog = nil
	err := client(t, site.URL, nil).Send(t.Context(), profileOf(t, "a", 1))
	assert.ErrorContains(t, err, "certificate")
	assert.Zero(t, s.n)
	ca := fileWith(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw})))
	require.NoError(t, client(t, site.URL, func(o *web.Options) { o.CAFile = ca }).Send(t.Context(), profileOf(t, "a", 1)))
	assert.Equal(t, map[string]int{"a": 1}, s.ids)
}

// TestQueueAndServer checks that each profile arrives once at a server that is in turn down, busy, broken and slow, and
// that the sums at the server are those of the sender.
func TestQueueAndServer(t *testing.T) {
	s := newServer(t)
	s.answer = func(n int, w http.ResponseWriter, r *http.Request) bool {
		switch n {
		case 1:
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.WriteHeader(http.StatusInternalServerError)
		case 3: // the connection breaks before anything is stored
			_, _ = io.CopyN(io.Discard, r.Body, 10)
			panic(http.ErrAbortHandler)
		case 4:
			time.Sleep(20 * time.Millisecond)
			return false
		default:
			return false
		}
		return true
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	listener.Close() // it is down at first
	q := push.NewQueue(client(t, "http://"+address, nil), func(text string) { t.Log(text) })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	go q.Run(ctx)
	sum := int64(0)
	for i := range 20 {
		sum += int64(i)
		q.Add(profileOf(t, fmt.Sprint(i), int64(i)))
	}
	require.Eventually(t, func() bool { return q.Stats().Retries > 0 }, time.Minute, time.Millisecond)
	listener, err = net.Listen("tcp", address)
	require.NoError(t, err)
	site := &httptest.Server{Listener: listener, Config: &http.Server{Handler: s}}
	site.Start()
	defer site.Close()
	stats := q.Close(ctx)
	assert.EqualValues(t, 20, stats.Sent)
	assert.Zero(t, stats.Dropped+stats.Refused)
	assert.Len(t, s.ids, 20)
	for id, n := range s.ids {
		assert.Equal(t, 1, n, id)
	}
	assert.Equal(t, map[string]int64{"shop samples": sum, "shop cpu": sum * 1e7}, s.sums)
}
