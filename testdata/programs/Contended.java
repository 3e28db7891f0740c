import java.util.concurrent.CountDownLatch;
import jdk.jfr.FlightRecorder;
import jdk.jfr.RecordingState;

/**
 * Allocates in one line, and has threads wait for a lock in another. It begins when a recording by Flight Recorder has
 * begun; the argument is how long it then runs, in ms. It prints how many bytes it has allocated, and how often threads took the
 * lock. It is for JDK 11 and newer.
 */
public class Contended {
    static final Object LOCK = new Object();
    static volatile byte[] sink;
    static volatile long taken, work;

    static void allocate() {
        sink = new byte[2000]; // the line that allocates
    }

    static void locked(long until) {
        while (System.nanoTime() < until) {
            synchronized (LOCK) { taken++; // the line that waits: HotSpot may tell of it as of the next bytecode
                long end = System.nanoTime() + 200_000;
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
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        CountDownLatch done = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                locked(until);
                done.countDown();
            }, "worker-" + i).start();
        }
        long allocations = 0;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 400; i++) {
                allocate();
            }
            allocations += 400;
            Thread.sleep(1);
        }
        done.await();
        System.out.println("bytes " + allocations * 2016 + " locks " + taken);
    }
}
