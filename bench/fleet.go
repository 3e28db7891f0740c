package main

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

// The measurement "fleet" simulates many hosts that run gasm watch. Each host has its own queue and client, as in gasm
// watch. In each interval it sends one profile of each of its JVMs, at a random moment of the interval that is the same
// in all intervals. All hosts send to one server on this machine.
const (
	fleetJVMs  = 20 // JVMs of each host
	fleetEvery = 15 * time.Second
	// fleetPatience is how long to wait for the last profiles. A slow machine needs minutes for those of a thousand
	// hosts.
	fleetPatience = 10 * time.Minute
	// fleetPeriod is the time that a sample stands for, in ns.
	fleetPeriod = 9_900_990
	// fleetKinds is the number of different profiles that are sent. They are made before the measurement, because in
	// reality, making them is the work of the hosts and not of the server.
	fleetKinds = 10
)

// measureFleet measures what 10, 100 and 1000 hosts send in two intervals.
func measureFleet(ctx context.Context, s *setup) ([]figure, error) {
	var all []figure
	sizes := []int{10, 100, 1000}
	if s.short {
		sizes = []int{100}
	}
	kinds, err := fleetProfiles()
	if err != nil {
		return nil, err
	}
	for _, hosts := range sizes {
		s.say("%d hosts with %d JVMs each", hosts, fleetJVMs)
		run, err := simulateFleet(ctx, hosts, 2, kinds)
		if err != nil {
			return all, err
		}
		one := func(what string, value float64, unit unit, goal string) {
			all = append(all, figure{what, []float64{value}, unit, goal})
		}
		one(fmt.Sprintf("%d hosts, %d JVMs each: profiles per second", hosts, fleetJVMs), run.perSecond(run.profiles),
			inNumber, "")
		one("  received, of those that were made", run.share(), inShare, "100 %")
		one("  samples received, of those that were made", float64(run.samples)/float64(run.sentSamples), inShare, "100 %")
		one("  profiles in pprof's format", run.perSecond(run.pprofBytes)/1e6, unit{"%.3f MB/s", 1}, "")
		one("  bodies of the requests", run.perSecond(run.bodyBytes)/1e6, unit{"%.3f MB/s", 1}, "")
		one("  series", float64(run.series), inNumber, "")
		one("  failed attempts", float64(run.retries), inNumber, "")
		one("  from the end of the last interval to the last profile", run.late.Seconds(), inSeconds, "")
	}
	return all, nil
}

// A fleetProfile is one of the profiles that are sent.
type fleetProfile struct {
	text    []byte
	samples int64
}

// fleetProfiles makes profiles of servers: stacks of 10 to 60 frames from a few hundred methods, as many as a busy JVM
// has in 15 seconds.
func fleetProfiles() ([]fleetProfile, error) {
	all := make([]fleetProfile, fleetKinds)
	for kind := range all {
		r := rand.New(rand.NewPCG(uint64(kind), 1))
		cpu := &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"}
		p := &pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}, cpu}, PeriodType: cpu,
			Period: fleetPeriod, DurationNanos: int64(fleetEvery)}
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

// A fleetRun has the results of a simulation. The server adds to it from many goroutines.
type fleetRun struct {
	intervals             int
	made, sentSamples     int64
	profiles, samples     int64
	pprofBytes, bodyBytes int64
	series                int
	retries               int64
	late                  time.Duration

	mu     sync.Mutex
	parsed map[[sha256.Size]byte]int64 // number of samples of each profile that was parsed
	ids    map[string]bool             // the ids of the received profiles
	names  map[string]bool             // the sets of labels
	last   time.Time
}

func (r *fleetRun) perSecond(n int64) float64 {
	return float64(n) / (time.Duration(r.intervals) * fleetEvery).Seconds()
}

func (r *fleetRun) share() float64 { return float64(r.profiles) / float64(r.made) }

// simulateFleet runs a server, and the given number of hosts that send profiles to it.
func simulateFleet(ctx context.Context, hosts, intervals int, kinds []fleetProfile) (*fleetRun, error) {
	r := &fleetRun{intervals: intervals, parsed: map[[sha256.Size]byte]int64{}, ids: map[string]bool{},
		names: map[string]bool{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(r.receive), ReadHeaderTimeout: time.Minute}
	go server.Serve(listener)
	defer server.Close()

	start := time.Now()
	end := start.Add(time.Duration(intervals) * fleetEvery)
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
			stats := sendFleet(ctx, host, start, intervals, push.NewQueue(client, func(string) {}), kinds, &made, &samples)
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
	r.made, r.sentSamples, r.retries, r.series = made.Load(), samples.Load(), retries.Load(), 2*len(r.names)
	r.late = max(0, r.last.Sub(end))
	return r, ctx.Err()
}

// sendFleet simulates one host: in each interval it adds the profiles of the host's JVMs to the queue. At the end it
// waits until the queue has sent them, or until fleetPatience has passed.
func sendFleet(ctx context.Context, host int, start time.Time, intervals int, q *push.Queue, kinds []fleetProfile,
	made, samples *atomic.Int64) push.Stats {
	sending, stop := context.WithCancel(ctx)
	defer stop()
	go q.Run(sending)
	r := rand.New(rand.NewPCG(uint64(host), 2))
	phase := time.Duration(r.Float64() * float64(fleetEvery))
	for interval := range intervals {
		from := start.Add(time.Duration(interval)*fleetEvery + phase)
		select {
		case <-ctx.Done():
			return q.Stats()
		case <-time.After(time.Until(from)):
		}
		for jvm := range fleetJVMs {
			kind := &kinds[r.IntN(len(kinds))]
			q.Add(&push.Profile{ID: fmt.Sprintf("%08x-0000-4000-8000-%06x%06x", host, jvm, interval), From: from,
				To: from.Add(fleetEvery), Labels: []push.Label{{Name: "host.name", Value: "host" + strconv.Itoa(host)},
					{Name: "process.pid", Value: strconv.Itoa(1000 + jvm)},
					{Name: "service.name", Value: "service" + strconv.Itoa(jvm)}},
				Samples: kind.samples, CPUNanos: kind.samples * fleetPeriod, Pprof: kind.text})
			made.Add(1)
			samples.Add(kind.samples)
		}
	}
	patience, stopWaiting := context.WithTimeout(ctx, fleetPatience)
	defer stopWaiting()
	return q.Close(patience)
}

// receive is the server's side of push.v1. It counts a repeated profile once.
func (r *fleetRun) receive(w http.ResponseWriter, req *http.Request) {
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
	r.bodyBytes += length
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}")
}

// samplesOf returns the number of samples of a profile. It parses equal profiles only once, because the simulation
// measures what is sent, and not how fast a server can be.
func (r *fleetRun) samplesOf(text []byte) (int64, error) {
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

func (r *fleetRun) count(id, labels string, samples int64, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[labels] = true
	if r.ids[id] {
		return
	}
	r.ids[id] = true
	r.profiles++
	r.pprofBytes += int64(size)
	r.last = time.Now()
	r.samples += samples
}
