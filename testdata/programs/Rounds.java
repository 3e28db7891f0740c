import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;

/**
 * Measures how fast it runs within windows and outside of them, so that one sees what sampling costs and when.
 *
 * <pre>
 *   -Drounds=3      how many times it goes in and out
 *   -Din=500        milliseconds inside, after "BEGIN n nanoTime"
 *   -Dout=500       milliseconds outside, after "END n nanoTime"
 *   -Dto=out        the stream for these lines: out or err
 * </pre>
 *
 * <p>The speed is in loops per second of the thread's CPU time, so that other programs make little difference. The CPU
 * time inside, in nanoseconds, says how many samples there are to be. The times
 * are of the clock that samples have on Linux.
 */
public class Rounds {
    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    static int spin(int h) {
        for (int i = 0; i < 20_000; i++) {
            h = h * 31 + (h >>> 5);
        }
        return h;
    }

    static int sink;
    static long cpuNanos; // of the last run

    /** Spins for some milliseconds, and gives the loops per second of CPU time. */
    static double run(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        long cpu = threads.getCurrentThreadCpuTime();
        long loops = 0;
        int h = sink;
        do {
            h = spin(h);
            loops++;
        } while (System.nanoTime() - end < 0);
        sink = h;
        cpuNanos = threads.getCurrentThreadCpuTime() - cpu;
        return loops * 1e9 / cpuNanos;
    }

    public static void main(String[] args) {
        PrintStream to = System.getProperty("to", "out").equals("err") ? System.err : System.out;
        int rounds = Integer.getInteger("rounds", 3);
        run(500); // compiled by C2
        for (int i = 1; i <= rounds; i++) {
            to.println("BEGIN " + i + " " + System.nanoTime());
            double inside = run(Integer.getInteger("in", 500));
            to.println("END " + i + " " + System.nanoTime());
            long insideNanos = cpuNanos;
            double outside = run(Integer.getInteger("out", 500));
            System.out.printf(Locale.ROOT, "speed %d inside %.1f outside %.1f%n", i, inside, outside);
            System.out.println("cpu " + i + " " + insideNanos);
        }
        System.out.println("sink " + sink);
    }
}
