// Package sdnotify tells systemd that a service has started and still works (sd_notify(3)). Without systemd, it does
// nothing.
//
// A process other than the service's main process can only notify systemd if the unit has NotifyAccess=all.
package sdnotify

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A Notifier sends messages to systemd.
type Notifier struct {
	conn  net.Conn // nil without systemd
	every time.Duration
	main  int // process id of the service's main process; 0 if it is unknown

	mu   sync.Mutex
	last time.Time // of the last WATCHDOG=1
}

// New connects to the systemd that has started this process or its parent. It removes systemd's variables from the
// environment, so that processes that are started later do not use them.
func New() *Notifier {
	path := os.Getenv("NOTIFY_SOCKET")
	usec, _ := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid, _ := strconv.Atoi(os.Getenv("WATCHDOG_PID"))
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		os.Unsetenv(name)
	}
	n := &Notifier{}
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "@") {
		return n
	}
	conn, err := net.Dial("unixgram", path)
	if err != nil {
		return n // systemd reports that the service does not become ready
	}
	n.conn = conn
	if usec > 0 && (pid == 0 || pid == os.Getpid() || pid == os.Getppid()) {
		n.every, n.main = time.Duration(usec)*time.Microsecond/3, pid
	}
	return n
}

// Beat returns a function that tells systemd that the service still works with its present configuration. The service
// calls the function about once a second. The first call says that the service has started or, after Reloading, that it
// has read its configuration again. Each new configuration needs a Beat of its own, because the service goes on calling
// the function of the old one for a while.
func (n *Notifier) Beat() func() {
	ready := sync.OnceFunc(n.Ready)
	return func() {
		ready()
		n.alive()
	}
}

// Ready says that the service has started or, after Reloading, that it is done with reloading, whether it now has a new
// configuration or keeps the old one.
func (n *Notifier) Ready() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.send("READY=1")
}

// alive sends three messages in each interval of the watchdog, if the unit has one. It sends none while the service's
// main process is stopped, because systemd's signals have no effect then.
func (n *Notifier) alive() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.every > 0 && time.Since(n.last) >= n.every && !foreign.StatOf(n.main).Stopped() {
		n.last = time.Now()
		n.send("WATCHDOG=1")
	}
}

// Reloading says that the service reads its configuration again. A call of Ready, or of the function that a new Beat
// returns, says that this has ended.
func (n *Notifier) Reloading() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.send(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", monotonic.Nanos()/1000))
}

// Stopping says that the service is about to end.
func (n *Notifier) Stopping() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.send("STOPPING=1")
}

// sendTime limits the time for which a message waits if systemd reads no messages at present. It is short, because the
// service waits, too.
const sendTime = time.Second

func (n *Notifier) send(text string) {
	if n.conn == nil {
		return
	}
	_ = n.conn.SetWriteDeadline(time.Now().Add(sendTime)) // fails only if the Write fails
	_, _ = n.conn.Write([]byte(text))                     // fails if systemd is being replaced; the next message arrives
}
