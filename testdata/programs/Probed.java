import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * Does a known number of what HotSpot has probes for, when it is told to by a line of its input, allocates
 * after another one, and ends after a third one.
 */
public class Probed {
    static final Object LOCK = new Object();
    static volatile Object sink;
    static volatile Thread holder; // the last one that took the lock
    static volatile boolean finished; // one of the two threads has all of its rounds

    /** Takes the lock some times, holds it until the other thread waits for it, and leaves it to that. */
    static void contend(Thread other, int rounds) {
        Thread self = Thread.currentThread();
        for (int i = 0; i < rounds; i++) {
            synchronized (LOCK) {
                holder = self;
                while (other.getState() != Thread.State.BLOCKED && !finished) {
                    Thread.yield();
                }
            }
            while (holder == self && !finished) {
                Thread.yield();
            }
        }
        finished = true;
    }

    static Object allocate(int n) {
        Object last = null;
        for (int i = 0; i < n; i++) {
            last = new int[] {i, n}; // the line that allocates
            sink = last;
        }
        return last;
    }

    static void spin(long nanos) {
        for (long until = System.nanoTime() + nanos; System.nanoTime() < until;) {
        }
    }

    /** Runs much of the JDK often enough for C1 to compile it. */
    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            String s = String.format("%d %s %08x", i, "x".concat(Integer.toString(i)), i * 31L);
            sum += s.replaceAll("[0-9]+", "n").length() + new java.math.BigInteger(Integer.toString(i + 1)).pow(5).bitLength();
            sum += Arrays.asList(s.split(" ")).hashCode();
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        System.in.read();
        Thread self = Thread.currentThread();
        Thread other = new Thread(() -> contend(self, 50), "other one\n\u202e\"%s\\"); // a name that no text may take for its own
        other.start();
        contend(other, 50);
        other.join();
        for (int i = 0; i < 5; i++) {
            System.gc();
        }
        for (int i = 0; i < 20_000; i++) {
            sink = new byte[10_000]; // 100 young collections with -Xmn2m, not at equal distances
            if (i % 100 == 0) {
                spin(i * 7919L % 1_000_003);
            }
        }
        for (int i = 0; i < 30; i++) {
            Thread.sleep(1);
        }
        for (int i = 0; i < 30; i++) {
            LockSupport.parkNanos(LOCK, 100_000);
        }
        sink = work(2000);
        System.out.println("DONE");
        System.in.read();
        for (int i = 0; i < 1000; i++) {
            allocate(Integer.parseInt(args[0]));
        }
        System.out.println("ALLOCATED");
        System.in.read();
    }
}
