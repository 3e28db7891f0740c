import java.util.concurrent.CountDownLatch;
import jdk.jfr.FlightRecorder;
import jdk.jfr.RecordingState;

/**
 * Allocates in one line, and has threads wait for a lock in another. It begins when a recording by Flight Recorder has
 * begun; the argument is how long it then runs, in ms. On a busy machine it runs on until it has slept and waited some times. It
 * prints how many bytes it has allocated, and how often threads took the lock. It is for JDK 11 and newer.
 */
public class Contended {
    static final Object LOCK = new Object();
    static volatile byte[] sink;
    static volatile long taken, waits, work;
    static volatile boolean ended;

    static void allocate() {
        sink = new byte[2000]; // the line that allocates
    }

    static void locked() {
        while (!ended) {
            long before = System.nanoTime();
            synchronized (LOCK) { taken++; // the line that waits: HotSpot may tell of it as of the next bytecode
                long begin = System.nanoTime(), end = begin + 200_000;
                if (begin - before > 100_000) {
                    waits++;
                }
                while (System.nanoTime() < end) {
                    work++;
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        for (long until = System.nanoTime() + 60_000_000_000L; System.nanoTime() < until; Thread.sleep(2)) {
            if (FlightRecorder.isInitialized() && FlightRecorder.getFlightRecorder().getRecordings().stream().anyMatch(r -> r.getState() == RecordingState.RUNNING)) {
                break;
            }
        }
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000, latest = until + 60_000_000_000L;
        CountDownLatch done = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                locked();
                done.countDown();
            }, "worker-" + i).start();
        }
        long allocations = 0, sleeps = 0;
        while (System.nanoTime() < until || (sleeps < 150 || waits < 25) && System.nanoTime() < latest) {
            for (int i = 0; i < 400; i++) {
                allocate();
            }
            allocations += 400;
            Thread.sleep(1);
            sleeps++;
        }
        ended = true;
        done.await();
        System.out.println("bytes " + allocations * 2016 + " locks " + taken);
    }
}
