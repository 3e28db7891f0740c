// Package fleet simulates many hosts that run gasm watch. Each host has its own queue and client, as in gasm watch. In
// each interval it sends one profile of each of its JVMs, at a random moment of the interval that is the same in all
// intervals. All hosts send to one server on this machine.
package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/push/pyroscope"
	"github.com/gasm-profiler/gasm/push/web"
)

// JVMs is the number of JVMs of each host.
const JVMs = 20

const (
	every = 15 * time.Second // the interval
	// longestWait is how long to wait for the last profiles. A slow machine needs minutes for those of a thousand
	// hosts.
	longestWait = 10 * time.Minute
	// period is the time that a sample stands for, in ns.
	period = 9_900_990
	// differentKinds is the number of different profiles that are sent. They are made before the measurement, because in
	// reality, making them is the work of the hosts and not of the server.
	differentKinds = 10
)

// A Kind is one of the profiles that are sent.
type Kind struct {
	text    []byte
	samples int64
}

// Kinds makes profiles of servers: stacks of 10 to 60 frames from a few hundred methods, as many as a busy JVM
// has in 15 seconds.
func Kinds() ([]Kind, error) {
	all := make([]Kind, differentKinds)
	for kind := range all {
		r := rand.New(rand.NewPCG(uint64(kind), 1))
		cpu := &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"}
		p := &pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}, cpu}, PeriodType: cpu,
			Period: period, DurationNanos: int64(every)}
		for i := range 400 {
			f := &pprof.Function{ID: uint64(i + 1), Filename: fmt.Sprintf("org/acme/shop/service%d/Handler%d.java", i%20, i)}
			f.Name = fmt.Sprintf("org.acme.shop.service%d.Handler%d::handleRequest%d", i%20, i, i%7)
			p.Function = append(p.Function, f)
			line := pprof.Line{Function: f, Line: int64(10 + r.IntN(500))}
			p.Location = append(p.Location, &pprof.Location{ID: f.ID, Line: []pprof.Line{line}})
		}
		for range 30 << (kind % 4) { // 30 to 240 different stacks
			n := 1 + r.Int64N(8)
			sample := &pprof.Sample{Value: []int64{n, n * p.Period}}
			for range 10 + r.IntN(50) {
				sample.Location = append(sample.Location, p.Location[r.IntN(len(p.Location))])
			}
			p.Sample = append(p.Sample, sample)
			all[kind].samples += n
		}
		var out bytes.Buffer
		if err := p.Write(&out); err != nil {
			return nil, err
		}
		all[kind].text = out.Bytes()
	}
	return all, nil
}

// A Run has the results of a simulation. The server adds to it from many goroutines.
type Run struct {
	intervals             int
	Made, SentSamples     int64
	Profiles, Samples     int64         // those that the server has received
	PprofBytes, BodyBytes int64         // of the profiles, and of the requests' bodies
	Series                int           // of the server, two for each set of labels
	Retries               int64         // attempts that failed
	Late                  time.Duration // from the end of the last interval to the last profile

	mu     sync.Mutex
	parsed map[[sha256.Size]byte]int64 // number of samples of each profile that was parsed
	ids    map[string]bool             // the ids of the received profiles
	names  map[string]bool             // the sets of labels
	last   time.Time
}

// PerSecond returns a number per second of the intervals.
func (r *Run) PerSecond(n int64) float64 {
	return float64(n) / (time.Duration(r.intervals) * every).Seconds()
}

// Share returns the share of the profiles that the server has received.
func (r *Run) Share() float64 { return float64(r.Profiles) / float64(r.Made) }

// Simulate runs a server, and the given number of hosts that send profiles to it.
func Simulate(ctx context.Context, hosts, intervals int, kinds []Kind) (*Run, error) {
	r := &Run{intervals: intervals, parsed: map[[sha256.Size]byte]int64{}, ids: map[string]bool{},
		names: map[string]bool{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(r.receive), ReadHeaderTimeout: time.Minute}
	go server.Serve(listener)
	defer server.Close()

	start := time.Now()
	end := start.Add(time.Duration(intervals) * every)
	var made, samples, retries atomic.Int64
	var senders sync.WaitGroup
	failed := make(chan error, hosts)
	for host := range hosts {
		senders.Go(func() {
			client, err := pyroscope.New(web.Options{URL: "http://" + listener.Addr().String(), Gasm: "bench"})
			if err != nil {
				failed <- err
				return
			}
			stats := send(ctx, host, start, intervals, push.NewQueue(client, func(string) {}), kinds, &made, &samples)
			retries.Add(stats.Retries)
		})
	}
	senders.Wait()
	select {
	case err := <-failed:
		return nil, err
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Made, r.SentSamples, r.Retries, r.Series = made.Load(), samples.Load(), retries.Load(), 2*len(r.names)
	r.Late = max(0, r.last.Sub(end))
	return r, ctx.Err()
}

// send simulates one host: in each interval it adds the profiles of the host's JVMs to the queue. At the end it
// waits until the queue has sent them, or until longestWait has passed.
func send(ctx context.Context, host int, start time.Time, intervals int, q *push.Queue, kinds []Kind,
	made, samples *atomic.Int64) push.Stats {
	sending, stop := context.WithCancel(ctx)
	defer stop()
	go q.Run(sending)
	r := rand.New(rand.NewPCG(uint64(host), 2))
	phase := time.Duration(r.Float64() * float64(every))
	for interval := range intervals {
		from := start.Add(time.Duration(interval)*every + phase)
		select {
		case <-ctx.Done():
			return q.Stats()
		case <-time.After(time.Until(from)):
		}
		for jvm := range JVMs {
			kind := &kinds[r.IntN(len(kinds))]
			q.Add(&push.Profile{ID: fmt.Sprintf("%08x-0000-4000-8000-%06x%06x", host, jvm, interval), From: from,
				To: from.Add(every), Labels: []push.Label{{Name: "host.name", Value: "host" + strconv.Itoa(host)},
					{Name: "process.pid", Value: strconv.Itoa(1000 + jvm)},
					{Name: "service.name", Value: "service" + strconv.Itoa(jvm)}},
				Samples: kind.samples, CPUNanos: kind.samples * period, Pprof: kind.text})
			made.Add(1)
			samples.Add(kind.samples)
		}
	}
	patience, stopWaiting := context.WithTimeout(ctx, longestWait)
	defer stopWaiting()
	return q.Close(patience)
}

// receive is the server's side of push.v1. It counts a repeated profile once.
func (r *Run) receive(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	length := int64(len(body))
	if err == nil && req.Header.Get("Content-Encoding") == "gzip" {
		var packed *gzip.Reader
		if packed, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(packed)
		}
	}
	var pushed struct {
		Series []struct {
			Labels  []struct{ Name, Value string }
			Samples []struct{ RawProfile, ID string }
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &pushed)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, s := range pushed.Series {
		for _, one := range s.Samples {
			text, err := base64.StdEncoding.DecodeString(one.RawProfile)
			var samples int64
			if err == nil {
				samples, err = r.samplesOf(text)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			r.count(one.ID, fmt.Sprint(s.Labels), samples, len(text))
		}
	}
	r.mu.Lock()
	r.BodyBytes += length
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}")
}

// samplesOf returns the number of samples of a profile. It parses equal profiles only once, because the simulation
// measures what is sent, and not how fast a server can be.
func (r *Run) samplesOf(text []byte) (int64, error) {
	sum := sha256.Sum256(text)
	r.mu.Lock()
	known, ok := r.parsed[sum]
	r.mu.Unlock()
	if ok {
		return known, nil
	}
	p, err := pprof.ParseData(text)
	if err != nil {
		return 0, err
	}
	for _, s := range p.Sample {
		known += s.Value[0]
	}
	r.mu.Lock()
	r.parsed[sum] = known
	r.mu.Unlock()
	return known, nil
}

func (r *Run) count(id, labels string, samples int64, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[labels] = true
	if r.ids[id] {
		return
	}
	r.ids[id] = true
	r.Profiles++
	r.PprofBytes += int64(size)
	r.last = time.Now()
	r.Samples += samples
}
