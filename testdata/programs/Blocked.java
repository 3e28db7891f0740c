import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import jdk.jfr.FlightRecorder;
import jdk.jfr.RecordingState;

/**
 * Allocates in one line, and has threads wait for a lock in another. It begins when a recording by Flight Recorder has
 * begun; the argument is how long it then runs, in ms. It prints how many bytes it has allocated, and for how many ns the
 * threads waited for a lock, according to the JVM's statistics. A time that the threads measured
 * themselves would be too long on a busy machine. It is for JDK 11 and newer.
 */
public class Blocked {
    static final Object LOCK = new Object();
    static volatile byte[] sink;
    static volatile boolean ended;
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static long waitedMillis;

    static void allocate() {
        sink = new byte[2000]; // the line that allocates
    }

    static void locked() throws InterruptedException {
        while (!ended) {
            synchronized (LOCK) { // the line that waits
                Thread.sleep(10);
            }
        }
        synchronized (THREADS) {
            waitedMillis += THREADS.getThreadInfo(Thread.currentThread().getId()).getBlockedTime();
        }
    }

    public static void main(String[] args) throws Exception {
        THREADS.setThreadContentionMonitoringEnabled(true);
        System.out.println("READY");
        for (long until = System.nanoTime() + 300_000_000_000L; System.nanoTime() < until; Thread.sleep(2)) {
            if (FlightRecorder.isInitialized() && FlightRecorder.getFlightRecorder().getRecordings().stream()
                    .anyMatch(r -> r.getState() == RecordingState.RUNNING)) {
                break;
            }
        }
        CountDownLatch done = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            new Thread(() -> {
                try {
                    locked();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                done.countDown();
            }, "worker-" + i).start();
        }
        long allocations = 0;
        for (long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000; System.nanoTime() < until; ) {
            for (int i = 0; i < 400; i++) {
                allocate();
            }
            allocations += 400;
            Thread.sleep(1);
        }
        ended = true;
        done.await();
        System.out.println(allocations * 2016 + " " + waitedMillis * 1_000_000);
    }
}
