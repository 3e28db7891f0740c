import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Prints for each line of its input how long a Thread.yield and an allocation take, in ns of the thread's CPU time,
 * the least of some rounds.
 */
public class ProbeCost {
    static final int ROUNDS = 4;
    static final int N = 30_000;
    static volatile Object sink;

    static long yields(ThreadMXBean threads) {
        long from = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < N; i++) {
            Thread.yield();
        }
        return threads.getCurrentThreadCpuTime() - from;
    }

    static long allocations(ThreadMXBean threads) {
        long from = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < N; i++) {
            sink = new int[2];
        }
        return threads.getCurrentThreadCpuTime() - from;
    }

    public static void main(String[] args) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 10; i++) {
            yields(threads);
            allocations(threads);
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            long yield = Long.MAX_VALUE;
            long allocation = Long.MAX_VALUE;
            for (int i = 0; i < ROUNDS; i++) {
                yield = Math.min(yield, yields(threads));
                allocation = Math.min(allocation, allocations(threads));
            }
            System.out.println(yield / (double) N + " " + allocation / (double) N);
        }
    }
}
