package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// A badServer is a profileServer that fails in different ways for some minutes.
type badServer struct {
	*profileServer
	began time.Time
	mu    sync.Mutex
	seen  map[string]int // requests by the way in which they failed
}

// downAfter and downUntil are when the badServer accepts no connection.
const downAfter, downUntil = 45 * time.Second, 165 * time.Second

func (s *badServer) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[what]++
}

func (s *badServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch since := time.Since(s.began); {
	case since < 200*time.Second || since > 440*time.Second:
	case since < 260*time.Second:
		s.count("429")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case since < 320*time.Second:
		s.count("500")
		w.WriteHeader(http.StatusInternalServerError)
		return
	case since < 380*time.Second:
		s.count("cut")
		panic(http.ErrAbortHandler) // closes the connection
	default:
		s.count("slow")
		time.Sleep(8 * time.Second)
	}
	s.profileServer.ServeHTTP(w, r)
}

// A gate is a listener that closes new connections at once in the time from downAfter to downUntil.
type gate struct {
	net.Listener
	server *badServer
}

func (g gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if since := time.Since(g.server.began); err != nil || since < downAfter || since > downUntil {
			return c, err
		}
		g.server.count("down")
		c.Close()
	}
}

// TestWatchTenMinutes profiles a JVM that knows its shares for ten minutes. Meanwhile, the server is down for two
// minutes, answers 429 and 500, cuts connections and is slow. Each of the 40 profiles must arrive once. It needs -long.
func TestWatchTenMinutes(t *testing.T) {
	if !gasmtest.Long() {
		return // it takes eleven minutes
	}
	s := &badServer{profileServer: newProfileServer("Shares"), seen: map[string]int{}}
	s.requests = 3 // no more of its own failures
	web := httptest.NewUnstartedServer(s)
	web.Listener = gate{web.Listener, s}
	web.Config.SetKeepAlivesEnabled(false) // so that the gate sees each request
	s.began = time.Now()
	web.Start()
	defer web.Close()

	program := exec.Command(gasmtest.NeedJava(t), append(exactLines, "-Dsec=605", "-Dwarmup=3",
		"-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Shares::heavy",
		"-XX:CompileCommand=dontinline,Shares::middle", "-XX:CompileCommand=dontinline,Shares::light",
		"-cp", javaPrograms(t), "Shares")...)
	out := newLineWaiter("MEASURE")
	program.Stdout = out
	gasmtest.Start(t, program)
	out.wait(t)
	var written, stderr lockedBuffer
	pid := strconv.Itoa(program.Process.Pid)
	cmd := exec.Command(binary, "watch", "--label", "team=x", "--to", "-", "--to", "pyroscope+"+web.URL, pid)
	cmd.Env = append(cmd.Environ(), "TMPDIR="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &written, &stderr
	gasmtest.Start(t, cmd)
	require.NoError(t, program.Wait())
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "%s", &stderr)
	t.Logf("%s", &stderr)

	s.mu.Lock()
	t.Logf("failed requests: %v", s.seen)
	for _, what := range []string{"down", "429", "500", "cut", "slow"} {
		assert.NotZero(t, s.seen[what], what)
	}
	s.mu.Unlock()
	s.profileServer.mu.Lock()
	defer s.profileServer.mu.Unlock()
	profiles, sums := writtenSums(t, strings.NewReader(written.String()))
	assert.Equal(t, sums, s.sums)
	assert.GreaterOrEqual(t, profiles, 40)
	assert.LessOrEqual(t, profiles, 42) // the first and the last one are parts
	assert.Len(t, s.ids, profiles)
	for id, n := range s.ids {
		assert.Equal(t, 1, n, id)
	}
	assert.Empty(t, s.bad)
	all := map[string]int64{}
	total := int64(0)
	for place, n := range s.stacks[pid] {
		method, _, _ := strings.Cut(place, ":")
		if strings.HasPrefix(place, "Shares::") {
			method = strings.Split(place, ":")[2]
			total += n
		}
		all[method] += n
	}
	for _, m := range regexp.MustCompile(`share (\w+) (0\.\d+)`).FindAllStringSubmatch(out.String(), -1) {
		own, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		share := float64(all[m[1]]) / float64(total)
		t.Logf("%-6s %.2f %% by the program, %.2f %% of %d samples", m[1], 100*own, 100*share, total)
		assert.InDelta(t, own, share, 0.01, m[1])
	}
	assert.Greater(t, total, 9*s.sums[pid]["samples"]/10)
}

// A pacedJVM runs the program Paced, and keeps the CPU times of its calls.
type pacedJVM struct {
	*gasmtest.Program
	mu    sync.Mutex
	calls []int // in µs
}

func startPaced(t *testing.T, percentage string) *pacedJVM {
	t.Helper()
	j := &pacedJVM{}
	j.Program, _ = gasmtest.StartProgram(t, gasmtest.NeedJava(t), "-XX:+UseSerialGC", "-Xmx64m", "-cp", javaPrograms(t),
		"Paced", percentage)
	go func() {
		for j.Lines.Scan() {
			if took, err := strconv.Atoi(j.Lines.Text()); err == nil {
				j.mu.Lock()
				j.calls = append(j.calls, took)
				j.mu.Unlock()
			}
		}
	}()
	return j
}

// takeCalls returns the median CPU time of the calls of all JVMs since it was called last.
func takeCalls(jvms []*pacedJVM) (median, calls int) {
	var all []int
	for _, j := range jvms {
		j.mu.Lock()
		all = append(all, j.calls...)
		j.calls = nil
		j.mu.Unlock()
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0, 0
	}
	return all[len(all)/2], len(all)
}

// resources are what a process and its children use.
type resources struct {
	cpu         time.Duration
	memory      int // resident set, in KiB
	descriptors int
}

// resourcesOf sums up what a process and its children, and theirs, use at present.
func resourcesOf(pid int) (u resources) {
	for _, pid := range append(descendants(pid), pid) {
		cpu, _ := gasmtest.CPUTime(pid)
		children, _ := gasmtest.ChildrenTime(pid)
		u.cpu += cpu + children
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have ended
		if m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status); m != nil {
			memory, _ := strconv.Atoi(string(m[1]))
			u.memory += memory
		}
		fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		u.descriptors += len(fds)
	}
	return u
}

// TestWatchHalfAnHour profiles 20 JVMs that come and go for half an hour: one of them ends each minute, and another one
// starts. It measures what gasm uses, and whether calls take longer than in two minutes before and after. It needs
// -long and a machine that has little else to do.
func TestWatchHalfAnHour(t *testing.T) {
	if !gasmtest.Long() {
		return // it takes 35 minutes
	}
	const count, percentage, minutes = 20, "5", 30
	jvms := make([]*pacedJVM, count)
	for i := range jvms {
		jvms[i] = startPaced(t, percentage)
	}
	quiet := func() int {
		time.Sleep(10 * time.Second)
		takeCalls(jvms)
		time.Sleep(2 * time.Minute)
		median, calls := takeCalls(jvms)
		t.Logf("without gasm: a call takes %d µs (median of %d calls)", median, calls)
		return median
	}
	before := quiet()
	cmd := exec.Command(binary, "watch", "--to", "dir:"+t.TempDir(), "Paced")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+t.TempDir())
	var stderr lockedBuffer
	cmd.Stderr = &stderr
	gasmtest.Start(t, cmd)
	began, last := time.Now(), resources{}
	at := map[int]resources{}
	var median, calls int
	for minute := 1; minute <= minutes; minute++ {
		time.Sleep(time.Until(began.Add(time.Duration(minute) * time.Minute)))
		oldest := jvms[0]
		_ = oldest.Cmd.Process.Kill()
		jvms = append(jvms[1:], startPaced(t, percentage))
		u := resourcesOf(cmd.Process.Pid)
		t.Logf("minute %2d: %.2f %% of a processor, %d KiB, %d descriptors", minute,
			100*(u.cpu-last.cpu).Minutes(), u.memory, u.descriptors)
		last, at[minute] = u, u
		if minute == minutes-3 {
			takeCalls(jvms)
		}
	}
	median, calls = takeCalls(jvms)
	t.Logf("with gasm: a call takes %d µs (median of %d calls)", median, calls)
	share := float64(last.cpu) / float64(time.Since(began))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "%s", &stderr)
	after := quiet()
	t.Logf("%.2f %% of a processor\n%s", 100*share, &stderr)
	assert.LessOrEqual(t, share, 0.01)
	// The code of the programs is the same, so what grows would grow with each that comes. How much memory there is at
	// one moment depends on when garbage was collected last, so the most of ten minutes is compared.
	mostMemory := func(from, to int) (most int) {
		for minute := from; minute <= to; minute++ {
			most = max(most, at[minute].memory)
		}
		return most
	}
	assert.LessOrEqual(t, mostMemory(21, 30), mostMemory(1, 10)*6/5)
	assert.LessOrEqual(t, at[30].descriptors, at[5].descriptors+at[5].descriptors/5)
	noise := float64(max(before, after) - min(before, after))
	assert.LessOrEqual(t, float64(median), float64(max(before, after))+max(noise, 0.01*float64(before)))
}
