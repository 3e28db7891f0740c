package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/watch"
)

// Options say what a Server answers.
type Options struct {
	Gasm   string // the version of gasm
	Status func() watch.Status
	// Record samples a JVM, and writes a report in a format of gasm attach.
	Record func(ctx context.Context, r Request, to io.Writer) error
}

// A Request asks for a recording.
type Request struct {
	PID     int
	Seconds int
	Format  string // "pprof" or "html"
}

// Limits for clients.
const (
	maxConnections = 32 // for each listener
	maxHeaders     = 8 << 10
	headerTime     = 10 * time.Second
	answerTime     = 30 * time.Second
	idleTime       = 30 * time.Second
	endTime        = 5 * time.Second // for requests that are being answered at the end
	// The Watcher counts as working unless its last beat is longer ago than aliveTime. There is a beat each second,
	// except while a recording ends.
	aliveTime = time.Minute
)

// A Server answers requests.
type Server struct {
	o       Options
	ctx     context.Context
	cancel  context.CancelFunc
	servers []*http.Server
	started time.Time
	// headerTime is how long a client may take to send a request.
	headerTime time.Duration

	mu        sync.Mutex
	recording map[int]bool // by process id
}

// New returns a Server without listeners.
func New(o Options) *Server {
	s := &Server{o: o, recording: map[int]bool{}, started: time.Now(), headerTime: headerTime}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Serve answers the requests of a listener in the background, until Close.
func (s *Server) Serve(l *Listener) {
	server := &http.Server{Handler: s.handler(l.token), ReadTimeout: s.headerTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return s.ctx }}
	s.servers = append(s.servers, server)
	in := &limited{Listener: l, slots: make(chan struct{}, maxConnections), closed: make(chan struct{})}
	go func() { _ = server.Serve(in) }() // it ends when in is closed
}

// Close ends all recordings, and closes all listeners.
func (s *Server) Close() {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	for _, server := range s.servers {
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}
}

// handler returns the handler of all requests of a listener. token is "" if clients need no token.
func (s *Server) handler(token string) http.Handler {
	open, closed := http.NewServeMux(), http.NewServeMux()
	open.HandleFunc("GET /healthz", s.health)
	open.Handle("/", authorized(token, closed))
	closed.HandleFunc("GET /metrics", s.metrics)
	closed.HandleFunc("GET /debug/pprof/profile", s.record("pprof", "application/octet-stream"))
	closed.HandleFunc("GET /page", s.record("html", "text/html; charset=utf-8"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "sandbox allow-scripts allow-downloads allow-popups")
		setDeadline(w, answerTime)
		open.ServeHTTP(w, r)
	})
}

// setDeadline sets how long an answer may take from now on. It also extends the time for reading: when that is over,
// the request's context is cancelled, even though the request has long been read.
func setDeadline(w http.ResponseWriter, d time.Duration) {
	c, at := http.NewResponseController(w), time.Now().Add(d)
	_, _ = c.SetWriteDeadline(at), c.SetReadDeadline(at) // they fail only without a connection
}

// authorized refuses requests without the token.
func authorized(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(sent)) // hashes have the same length, so the time says nothing about the token
		if subtle.ConstantTimeCompare(want[:], got[:]) != 1 || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "a token is needed: the header Authorization: Bearer TOKEN")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers with a message for people.
func refuse(w http.ResponseWriter, code int, format string, args ...any) {
	http.Error(w, "gasm: "+layout.Escape(fmt.Sprintf(format, args...)), code)
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	last := s.o.Status().Beat
	if last.IsZero() {
		last = s.started
	}
	if ago := time.Since(last); ago > aliveTime {
		refuse(w, http.StatusServiceUnavailable, "the last sign of life was %d s ago", int(ago.Seconds()))
		return
	}
	_, _ = io.WriteString(w, "ok\n") // fails if the client is gone
}

// The type limited is a listener that limits the number of open connections. Further ones wait.
type limited struct {
	net.Listener
	slots  chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed: // http.Server.Shutdown waits for the end of Accept, without a limit
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	free func()
}

func (c *limitedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
