import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;

/**
 * Measures its own time shares, so that a profile of it can be compared with what the program itself saw.
 *
 * <p>Three methods of different shape take turns, about 50 : 30 : 20, with the thread's CPU time read around each call.
 * (The wall clock would count the time in which the machine ran something else: on a busy one it gave 24 : 48 : 28.)
 * A call lasts 50 to 500 microseconds: reading the clock is noise. Run it with
 *
 * <pre>
 *   -XX:CompileCommand=dontinline,Shares::heavy   and the same for middle and light
 *   -Dsec=3        length of the measured part, seconds
 *   -Dwarmup=1.5   length of the warm-up before it, in which C2 compiles everything
 * </pre>
 *
 * <p>It prints MEASURE and DONE around the measured part, then one line per share, and the CPU time of the three
 * methods in nanoseconds. The measured part allocates nothing.
 */
public class Shares {
    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    static final int SIZE = 1 << 14;
    static final int[] numbers = new int[SIZE];
    static final int[] walk = new int[SIZE];

    static final int HEAVY = 185_000;
    static final int MIDDLE = 11_500;
    static final int LIGHT = 17_500;

    static long heavyNanos;
    static long middleNanos;
    static long lightNanos;
    static long sink;
    static long seed = 88172645463325252L;

    /** Int arithmetic over an array, each step on top of the one before. */
    static int heavy(int steps) {
        int[] a = numbers;
        int h = 17;
        for (int i = 0; i < steps; i++) {
            h = h * 31 + (a[i & (SIZE - 1)] ^ (h >>> 7));
        }
        return h;
    }

    /** Floating point: a division and a square root per step. */
    static double middle(int steps) {
        double x = 2;
        for (int i = 1; i <= steps; i++) {
            x = Math.sqrt(x + i / (x + 1.5));
        }
        return x;
    }

    /** Shifts on a long, and a walk through memory in no order. */
    static long light(int steps) {
        int[] next = walk;
        long h = 0x9E3779B97F4A7C15L;
        int at = 0;
        for (int i = 0; i < steps; i++) {
            at = next[(at ^ (int) h) & (SIZE - 1)];
            h ^= h << 13;
            h ^= h >>> 7;
            h ^= h << 17;
            h += at;
        }
        return h;
    }

    /** Calls each method {@code rounds} times, with 1/part of the full work. */
    static void rounds(int rounds, int part) {
        for (int i = 0; i < rounds; i++) {
            // No round is as long as the one before. Equal ones of half a millisecond ran in step with a sampler of
            // 1001 Hz: for seconds all its samples were in the same half of the round.
            seed ^= seed << 13;
            seed ^= seed >>> 7;
            seed ^= seed << 17;
            int length = 512 + (int) (seed & 1023);
            long t0 = threads.getCurrentThreadCpuTime();
            int a = heavy((int) ((long) HEAVY * length / 1024) / part);
            long t1 = threads.getCurrentThreadCpuTime();
            double b = middle((int) ((long) MIDDLE * length / 1024) / part);
            long t2 = threads.getCurrentThreadCpuTime();
            long c = light((int) ((long) LIGHT * length / 1024) / part);
            long t3 = threads.getCurrentThreadCpuTime();
            heavyNanos += t1 - t0;
            middleNanos += t2 - t1;
            lightNanos += t3 - t2;
            sink += a + (long) b + c;
        }
    }

    static void runUntil(long end) {
        while (System.nanoTime() - end < 0) {
            rounds(20, 1);
        }
    }

    public static void main(String[] args) {
        double warmup = Double.parseDouble(System.getProperty("warmup", "1.5"));
        double sec = Double.parseDouble(System.getProperty("sec", "3"));
        fill();

        // Many short calls first: calls, not loops alone, make C2 compile the methods and rounds() as a whole.
        long warm = System.nanoTime() + (long) (warmup * 1e9);
        for (int i = 0; i < 2_000; i++) {
            rounds(20, 500);
        }
        runUntil(warm);

        heavyNanos = middleNanos = lightNanos = 0;
        System.out.println("MEASURE");
        System.out.flush();
        runUntil(System.nanoTime() + (long) (sec * 1e9));
        System.out.println("DONE");
        System.out.flush();

        print();
    }

    /** Fills the arrays. */
    static void fill() {
        for (int i = 0; i < SIZE; i++) {
            numbers[i] = i * 0x9E3779B9;
            walk[i] = (i * 7919 + 12345) & (SIZE - 1);
        }
    }

    /** Prints the shares and the CPU time. */
    static void print() {
        double total = heavyNanos + middleNanos + lightNanos;
        System.out.printf(Locale.ROOT, "share heavy %.4f%nshare middle %.4f%nshare light %.4f%ncpu %.0f%nsink %d%n",
                heavyNanos / total, middleNanos / total, lightNanos / total, total, sink);
    }
}
