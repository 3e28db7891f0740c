import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A program that runs on several hosts, for the tests of merged reports. Its first argument is the percentage of calls
 * of alpha instead of beta, and its second one the CPU time to use, in milliseconds.
 */
public class Hosts {
    static long sink;

    static long alpha(long x) {
        for (int i = 0; i < 1_000_000; i++) {
            x = x * 31 + (x >>> 7);
        }
        return x;
    }

    static long beta(long x) {
        for (int i = 0; i < 1_000_000; i++) {
            x = (x ^ x << 13) - (x >>> 5 ^ i);
        }
        return x;
    }

    public static void main(String[] args) {
        int alphas = Integer.parseInt(args[0]);
        long end = Long.parseLong(args[1]) * 1_000_000;
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int n = 0; threads.getCurrentThreadCpuTime() < end; n++) {
            sink += n % 10 < alphas / 10 ? alpha(n) : beta(n);
        }
    }
}
