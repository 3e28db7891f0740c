package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/watch"
)

// jvms are two JVMs that can be recorded and one that can't.
var jvms = []watch.JVM{{Process: attach.Process{PID: 10, Main: "org.acme.Shop"}, State: watch.StateProfiled},
	{Process: attach.Process{PID: 11, Main: "org.acme.Cart\x1b[2J"}, State: watch.StateLeftOut},
	{Process: attach.Process{PID: 12, Main: "org.acme.Old"}, State: watch.StateRefused}}

func status() watch.Status {
	return watch.Status{Samples: 136, CPUNanos: 1_360_000_000, Lost: 2, Profiles: 3, Hertz: 101, Share: 0.5, Budget: 0.01,
		Searched: true, JVMs: jvms, Beat: time.Now(), Queues: []watch.Queue{
			{To: `dir:/a "b\`, Stats: push.Stats{Sent: 3, Dropped: 1, Refused: 2, Retries: 4, Waiting: 5, Bytes: 600}},
			{To: "-", Stats: push.Stats{Sent: 3}}, {To: "-", Stats: push.Stats{Sent: 4}}}}
}

// start runs a server on a Unix socket. get sends requests to it.
func start(t *testing.T, o Options) (s *Server, socket string,
	get func(path string) (code int, body string, h http.Header)) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "gasm.sock")
	l, err := Listen("unix:"+socket, "")
	require.NoError(t, err)
	if o.Status == nil {
		o.Status = status
	}
	s = New(o)
	s.headerTime = 200 * time.Millisecond
	s.Serve(l)
	t.Cleanup(func() {
		s.Close()
		assert.NoFileExists(t, socket)
	})
	client := clientOf(socket)
	t.Cleanup(client.CloseIdleConnections)
	return s, socket, func(path string) (int, string, http.Header) {
		res, err := client.Get("http://gasm" + path)
		if !assert.NoError(t, err) {
			return 0, "", nil
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		assert.NoError(t, err)
		return res.StatusCode, string(body), res.Header
	}
}

func clientOf(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
}

// TestMetrics reads the metrics with Prometheus's own parser.
func TestMetrics(t *testing.T) {
	_, _, get := start(t, Options{Gasm: "1.2"})
	code, body, h := get("/metrics")
	assert.Equal(t, 200, code)
	assert.Equal(t, expfmt.FmtText, expfmt.ResponseFormat(h))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err, "%s", body)
	got := map[string]float64{}
	for name, f := range families {
		assert.NotEmpty(t, f.GetHelp(), name)
		assert.Equal(t, strings.HasSuffix(name, "_total"), f.GetType().String() == "COUNTER", name)
		for _, m := range f.Metric {
			for _, l := range m.Label {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			name = f.GetName()
		}
	}
	for _, name := range []string{"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
		"process_start_time_seconds", "gasm_last_beat_timestamp_seconds"} {
		assert.Positive(t, got[name], name)
		delete(got, name)
	}
	delete(got, "gasm_on_demand_cpu_seconds_total")
	const dir = ` destination=dir:/a "b\`
	assert.Equal(t, map[string]float64{"gasm_build_info version=1.2": 1, "gasm_samples_total": 136,
		"gasm_sampled_cpu_seconds_total": 1.36, "gasm_lost_samples_total": 2, "gasm_profiles_total": 3,
		"gasm_frequency_hertz": 101, "gasm_share_ratio": 0.5, "gasm_budget_ratio": 0.01, "gasm_jvms state=profiled": 1,
		"gasm_jvms state=refused": 1, "gasm_jvms state=left_out": 1,
		"gasm_push_profiles_total" + dir + " result=sent":       3,
		"gasm_push_profiles_total" + dir + " result=dropped":    1,
		"gasm_push_profiles_total" + dir + " result=refused":    2,
		"gasm_push_retries_total" + dir:                         4,
		"gasm_push_waiting_profiles" + dir:                      5,
		"gasm_push_waiting_bytes" + dir:                         600,
		"gasm_push_profiles_total destination=- result=sent":    7,
		"gasm_push_profiles_total destination=- result=dropped": 0,
		"gasm_push_profiles_total destination=- result=refused": 0,
		"gasm_push_retries_total destination=-":                 0,
		"gasm_push_waiting_profiles destination=-":              0,
		"gasm_push_waiting_bytes destination=-":                 0}, got)
}

func TestHealth(t *testing.T) {
	beat := atomic.Pointer[time.Time]{}
	beat.Store(&time.Time{})
	_, _, get := start(t, Options{Status: func() watch.Status { return watch.Status{Beat: *beat.Load()} }})
	code, body, _ := get("/healthz") // it has just started
	assert.Equal(t, 200, code)
	assert.Equal(t, "ok\n", body)
	old := time.Now().Add(-aliveTime - time.Second)
	beat.Store(&old)
	code, body, _ = get("/healthz")
	assert.Equal(t, 503, code)
	assert.Regexp(t, `^gasm: the last sign of life was 6\d s ago\n$`, body)
}

// TestNotSearched checks that requests before the end of the first search for JVMs are to be repeated.
func TestNotSearched(t *testing.T) {
	_, _, get := start(t, Options{Status: func() watch.Status { return watch.Status{Beat: time.Now()} }})
	for _, path := range []string{"/page", "/page?jvm=Shop", "/debug/pprof/profile?jvm=10"} {
		code, body, _ := get(path)
		assert.Equal(t, 503, code, path)
		assert.Equal(t, "gasm: the first search for JVMs has not ended yet: try again in a few seconds\n", body, path)
	}
}

// TestRequests checks which requests lead to a recording, and how the others are answered.
func TestRequests(t *testing.T) {
	var last Request
	_, _, get := start(t, Options{Record: func(_ context.Context, r Request, to io.Writer) error {
		last = r
		if r.Seconds == 13 {
			return errors.New("the JVM \x1b[2J has ended")
		}
		_, err := io.WriteString(to, "a report")
		return err
	}})
	for _, test := range []struct {
		path string
		code int
		want string
		r    Request
	}{
		{"/page?seconds=5&jvm=10", 200, "a report", Request{10, 5, "html"}},
		{"/debug/pprof/profile?jvm=Shop", 200, "a report", Request{10, 10, "pprof"}},
		{"/debug/pprof/profile?seconds=300&jvm=11", 200, "a report", Request{11, 300, "pprof"}},
		{"/page?seconds=13&jvm=10", 500, "gasm: the JVM \\x1b[2J has ended\n", Request{10, 13, "html"}},
		{"/page?seconds=301&jvm=10", 400, "gasm: seconds is \"301\"; it can be 1 to 300\n", Request{}},
		{"/page?seconds=-1&jvm=10", 400, "gasm: seconds is \"-1\"; it can be 1 to 300\n", Request{}},
		{"/page?seconds=1e9", 400, "gasm: seconds is \"1e9\"; it can be 1 to 300\n", Request{}},
		{"/page?seconds=" + strings.Repeat("9", 1000), 400,
			"gasm: seconds is \"" + strings.Repeat("9", 40) + "\"; it can be 1 to 300\n", Request{}},
		{"/page", 200, "a report", Request{10, 10, "html"}},
		{"/page?jvm=acme", 409, "gasm: there are several JVMs: 10 (org.acme.Shop), 11 (org.acme.Cart\\x1b[2J); choose one with jvm=PID\n",
			Request{}},
		{"/page?jvm=Old", 404, "gasm: no JVM that can be recorded is called \"Old\"\n", Request{}},
		{"/page?jvm=12", 404, "gasm: no JVM that can be recorded is called \"12\"\n", Request{}},
		{"/page?jvm=1", 404, "gasm: no JVM that can be recorded is called \"1\"\n", Request{}},
		{"/page?jvm=--output%00x", 404, "gasm: no JVM that can be recorded is called \"--output\\x00x\"\n", Request{}},
		{"/debug/pprof/heap", 404, "404 page not found\n", Request{}},
		{"/../../etc/passwd", 404, "404 page not found\n", Request{}},
	} {
		last = Request{}
		code, body, h := get(test.path)
		assert.Equal(t, test.code, code, "%.80s", test.path)
		assert.Equal(t, test.want, body, "%.80s", test.path)
		assert.Equal(t, test.r, last, "%.80s", test.path)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
	}
}

// TestOneAtATime checks that a JVM is recorded for one request at a time, that a recording can take longer than a
// client may take to send its request, and that it ends when the client is gone.
func TestOneAtATime(t *testing.T) {
	began, end, cancelled := make(chan bool, 9), make(chan bool), make(chan bool, 9)
	s, path, get := start(t, Options{Record: func(ctx context.Context, r Request, to io.Writer) error {
		began <- true
		select {
		case <-end:
			_, err := io.WriteString(to, "a report")
			return err
		case <-ctx.Done():
			cancelled <- true
			return ctx.Err()
		}
	}})
	done := make(chan string, 1)
	go func() {
		_, body, _ := get("/page?jvm=10")
		done <- body
	}()
	<-began
	code, body, h := get("/debug/pprof/profile?jvm=10")
	assert.Equal(t, 429, code)
	assert.Equal(t, "gasm: JVM 10 is being recorded for another request\n", body)
	assert.Equal(t, "10", h.Get("Retry-After"))
	time.Sleep(2 * s.headerTime)
	end <- true
	assert.Equal(t, "a report", <-done)
	assert.Empty(t, cancelled)

	for pid := 100; pid < 100+maxRecordings; pid++ {
		require.NoError(t, s.begin(pid))
	}
	code, body, _ = get("/page?jvm=10")
	assert.Equal(t, 429, code)
	assert.Equal(t, "gasm: 4 JVMs are being recorded for other requests, which is the limit\n", body)
	s.end(100)

	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	_, err = io.WriteString(conn, "GET /page?jvm=10 HTTP/1.1\r\nHost: gasm\r\n\r\n")
	require.NoError(t, err)
	<-began
	conn.Close()
	<-cancelled
	require.Eventually(t, func() bool { return s.begin(10) == nil }, time.Minute, time.Millisecond)
}

// TestHostileClients checks that a client that sends nothing, too much or nonsense is disconnected, and that others are
// answered meanwhile.
func TestHostileClients(t *testing.T) {
	_, path, get := start(t, Options{})
	for name, sent := range map[string]string{"nothing": "", "half a request": "GET /metrics HT", "nonsense": "\x00\xff\r\n\r\n",
		"long headers": "GET /metrics HTTP/1.1\r\nHost: gasm\r\nX: " + strings.Repeat("x", 1<<20),
		"two hosts":    "GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"POST":         "POST /metrics HTTP/1.1\r\nHost: gasm\r\nContent-Length: 1000000000\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("unix", path)
			require.NoError(t, err)
			defer conn.Close()
			_, _ = io.WriteString(conn, sent) // the server may close the connection before it has all
			answer, _ := io.ReadAll(io.LimitReader(conn, 1<<20))
			if len(answer) > 0 {
				assert.Regexp(t, `^HTTP/1\.1 4\d\d `, string(answer))
			}
		})
	}
	var open []net.Conn
	for range maxConnections - 1 {
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		open = append(open, conn)
	}
	code, _, _ := get("/healthz")
	assert.Equal(t, 200, code)
	for _, conn := range open {
		conn.Close()
	}
}

// TestFull checks that a listener can be closed while it has all connections that it may have.
func TestFull(t *testing.T) {
	l, err := Listen("unix:"+filepath.Join(t.TempDir(), "gasm.sock"), "")
	require.NoError(t, err)
	in := &limited{Listener: l, slots: make(chan struct{}), closed: make(chan struct{})} // not even one
	ended := make(chan error)
	go func() {
		_, err := in.Accept()
		ended <- err
	}()
	require.NoError(t, in.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	_ = in.Close() // a second time, as an http.Server may
}

func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	for _, test := range []struct{ address, file, text, want string }{
		{"tcp:127.0.0.1:0", "", "", "a TCP port needs a file with a token"},
		{"tcp:127.0.0.1:0", file, "short\n", "the token has 5 characters; it needs at least 16"},
		{"tcp:127.0.0.1:0", file, "\n", "it must have one line"},
		{"tcp:", file, "0123456789abcdef", "it has the form"},
		{"unix:relative", "", "x", "it has the form unix:/PATH or tcp:HOST:PORT"},
		{"127.0.0.1:80", "", "x", "it has the form unix:/PATH or tcp:HOST:PORT"},
	} {
		write(test.text)
		_, err := Listen(test.address, test.file)
		require.ErrorContains(t, err, test.want)
	}
	write("0123456789abcdef\n")
	l, err := Listen("tcp:127.0.0.1:0", file)
	require.NoError(t, err)
	s := New(Options{Status: status})
	s.Serve(l)
	defer s.Close()
	for header, want := range map[string]int{"": 401, "Bearer 0123456789abcdeF": 401, "Bearer": 401, "Bearer ": 401,
		"0123456789abcdef": 401, "Basic 0123456789abcdef": 401, "Bearer 0123456789abcdef": 200,
		"bearer 0123456789abcdef": 200} {
		for path, open := range map[string]bool{"/metrics": false, "/healthz": true, "/page?seconds=0": false, "/x": false} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, nil)
			require.NoError(t, err)
			if header != "" {
				req.Header.Set("Authorization", header)
			}
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			res.Body.Close()
			code := want
			switch {
			case open:
				code = 200
			case want == 200 && path == "/x":
				code = 404
			case want == 200 && path != "/metrics":
				code = 400
			}
			assert.Equal(t, code, res.StatusCode, "%s with %q", path, header)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestSocket checks the mode of the socket, and that it replaces the socket of a process that has ended, but neither
// one that is in use nor another file.
func TestSocket(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gasm.sock")
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	old.SetUnlinkOnClose(false)
	_, err = Listen("unix:"+path, "")
	require.EqualError(t, err, "another program listens on "+path)
	require.NoError(t, old.Close()) // as after a kill: the file stays
	l, err := Listen("unix:"+path, "")
	require.NoError(t, err)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSocket|0o600, info.Mode())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing else is left")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, l.Close())
	assert.FileExists(t, path, "it is another file by now")
	_, err = Listen("unix:"+path, "")
	require.EqualError(t, err, path+" exists and is not a socket")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(filepath.Join(dir, "other"), path))
	_, err = Listen("unix:"+path, "")
	require.EqualError(t, err, path+" exists and is not a socket")
	_, err = Listen("unix:"+filepath.Join(dir, strings.Repeat("x", 200)), "")
	require.Error(t, err)
	_, err = Listen("unix:"+filepath.Join(dir, "none", "gasm.sock"), "")
	require.ErrorIs(t, err, os.ErrNotExist)
	open := filepath.Join(dir, "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777)) // whatever the umask is
	_, err = Listen("unix:"+filepath.Join(open, "gasm.sock"), "")
	require.ErrorContains(t, err, "all users can write to the folder")
	require.NoError(t, os.Chmod(open, 0o777|os.ModeSticky)) // as /tmp
	l, err = Listen("unix:"+filepath.Join(open, "gasm.sock"), "")
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// FuzzHandler checks that no request makes the handler fail.
func FuzzHandler(f *testing.F) {
	f.Add("/page?seconds=5&jvm=10")
	f.Add("/debug/pprof/profile?seconds=%zz&jvm=a;b")
	f.Add("/metrics")
	s := New(Options{Status: status, Record: func(_ context.Context, r Request, _ io.Writer) error {
		if r.PID != 10 && r.PID != 11 || r.Seconds < 1 || r.Seconds > maxSeconds {
			return fmt.Errorf("not allowed: %+v", r)
		}
		return nil
	}})
	h := s.handler("")
	f.Fuzz(func(t *testing.T, target string) {
		req, err := http.NewRequest(http.MethodGet, "http://gasm"+target, nil)
		if err != nil {
			return
		}
		w := &recorder{header: http.Header{}}
		h.ServeHTTP(w, req)
		assert.NotEqual(t, 500, w.code)
	})
}

type recorder struct {
	header http.Header
	code   int
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }
func (r *recorder) WriteHeader(code int)        { r.code = code }
