package waits

import (
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/wall"
)

// queueFrames are the methods in which the threads of a pool wait for work, and those in which a server's threads wait
// for connections and requests.
var queueFrames = []string{
	"java.util.concurrent.ThreadPoolExecutor::getTask",
	"java.util.concurrent.ForkJoinPool::awaitWork",
	"java.util.concurrent.ForkJoinPool::runWorker", // JDK 17 and newer park in it
	"java.util.TimerThread::mainLoop",
	"org.apache.tomcat.util.threads.ThreadPoolExecutor::getTask",
	"org.apache.tomcat.util.threads.TaskQueue::take",
	"org.apache.tomcat.util.threads.TaskQueue::poll",
	"org.eclipse.jetty.util.thread.QueuedThreadPool::idleJobPoll",
	"org.eclipse.jetty.util.thread.QueuedThreadPool$Runner::idleJobPoll",
	"org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread::waitForTask",
	"org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode::park",
	"org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode::waitForTask",
	"io.netty.channel.nio.NioEventLoop::select",
	"io.netty.channel.epoll.EpollEventLoop::epollWait",
	"io.netty.util.concurrent.SingleThreadEventExecutor::takeTask",
	"java.net.ServerSocket::accept",
	"sun.nio.ch.ServerSocketChannelImpl::accept",
	"org.eclipse.jetty.io.ManagedSelector::nioSelect",
	"org.eclipse.jetty.io.ManagedSelector::select",
	"org.apache.tomcat.util.net.NioEndpoint$Poller::run",
	"jdk.internal.net.http.HttpClientImpl$SelectorManager::run",
	"java.lang.ref.ReferenceQueue::remove",
	"java.lang.ref.Reference::waitForReferencePendingList",
}

// workFrames are methods that a pool calls when it has work. What these methods call is work, even if one of
// queueFrames, such as ForkJoinPool::runWorker, is further out on the stack.
var workFrames = []string{
	"java.util.concurrent.ForkJoinTask::doExec",
	"java.util.concurrent.ForkJoinPool$WorkQueue::topLevelExec",
	"org.apache.tomcat.util.net.NioEndpoint$Poller::events",
	"org.apache.tomcat.util.net.NioEndpoint$Poller::processKey",
	"org.apache.tomcat.util.net.NioEndpoint$Poller::timeout",
	"jdk.internal.net.http.HttpClientImpl$SelectorManager::handleEvent",
}

// queued reports whether a thread was blocked in its pool's queue.
func (b *builder) queued(c *counted) bool {
	if c.state == wall.OnProcessor || c.state == wall.Runnable || c.state == wall.Unseen || c.state == wall.Stopped {
		return false
	}
	if b.Counter.threads[c.thread].kind != threads.Application {
		return true
	}
	return c.stack != 0 && b.places.inQueue(c.stack)
}

// inQueue reports whether a thread with this stack waits in its pool's queue: from the innermost frame outwards, a
// frame of queueFrames is found before one of workFrames.
func (p *placeFinder) inQueue(stack callstack.ID) bool {
	in, known := p.queues[stack]
	if !known {
		in = p.findQueue(stack)
		p.queues[stack] = in
	}
	return in
}

func (p *placeFinder) findQueue(stack callstack.ID) bool {
	for f := range p.framesOf(stack) {
		switch {
		case !f.Kind.Java():
		case slices.Contains(queueFrames, f.Name):
			return true
		case slices.Contains(workFrames, f.Name):
			return false
		}
	}
	return false
}

// isIdle reports whether a thread is idle; see the package comment.
func isIdle(t *Thread) bool {
	const ran, unknown = 1000, 20 // it may run for 1/ran of its time, and be runnable or unseen for 1/unknown
	all := t.Times.Sum()
	return t.Queued > 0 && t.Queued == t.Times.Blocked() &&
		t.Times[wall.OnProcessor]*ran <= all && (t.Times[wall.Runnable]+t.Times[wall.Unseen])*unknown <= all
}
