import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A program that always does the same work, and uses a given percentage of a processor for it, for tests of what a
 * profiler costs. After READY, it prints the CPU time of each call of its hot method in microseconds.
 */
public class Paced {
    static double sink;

    /** The call that is measured. It takes some milliseconds. */
    static double work(double[] a, int depth) {
        if (depth > 0) {
            return work(a, depth - 1);
        }
        double sum = 0;
        for (int round = 0; round < 4000; round++) {
            for (int i = 0; i < a.length; i++) {
                sum += a[i] * round;
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        double percentage = Double.parseDouble(args[0]);
        double[] a = new double[1000];
        for (int i = 0; i < a.length; i++) {
            a[i] = i * 7919 % 1013;
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 300; i++) { // so that it is compiled
            sink += work(a, 20);
        }
        System.out.println("READY");
        while (true) {
            long t0 = threads.getCurrentThreadCpuTime();
            sink += work(a, 20);
            long took = threads.getCurrentThreadCpuTime() - t0;
            System.out.println(took / 1000);
            Thread.sleep((long) (took * (100 - percentage) / percentage / 1_000_000));
        }
    }
}
