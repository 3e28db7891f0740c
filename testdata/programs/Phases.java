import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A program that knows its hottest method, for the tests of gasm top. It spends all its time in one of two methods, alpha
 * and beta, which are called by two others. Each line on stdin changes the method, and is answered by a line on stdout
 * with the method and the System.nanoTime of the change. With "gc" as a line, it also collects garbage once; it prints how many collections it has asked for.
 */
public class Phases {
    static volatile boolean second;
    static volatile double sink;

    static double alpha(double[] a) {
        double sum = 0;
        for (int round = 0; round < 2000; round++) {
            for (int i = 0; i < a.length; i++) {
                sum += a[i] * round; // the hottest line of alpha
            }
        }
        return sum;
    }

    static long beta(int[] a) {
        long hash = 0;
        for (int round = 0; round < 2000; round++) {
            for (int i = 0; i < a.length; i++) {
                hash = hash * 31 + (a[i] ^ round); // the hottest line of beta
            }
        }
        return hash;
    }

    static void first(double[] a) { sink += alpha(a); }

    static void other(int[] a) { sink += beta(a); }

    public static void main(String[] args) throws Exception {
        double[] doubles = new double[1000];
        int[] ints = new int[1000];
        for (int i = 0; i < ints.length; i++) {
            doubles[i] = ints[i] = i * 7919 % 1013;
        }
        for (int i = 0; i < 200; i++) { // so that both are compiled
            first(doubles);
            other(ints);
        }
        Thread worker = new Thread(() -> {
            while (true) {
                if (second) {
                    other(ints);
                } else {
                    first(doubles);
                }
            }
        }, "hot-worker");
        worker.setDaemon(true);
        worker.start();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int collections = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("gc")) {
                System.gc();
                System.out.println("GC " + ++collections);
                continue;
            }
            second = !second;
            long changed = System.nanoTime();
            System.out.println("PHASE " + (second ? "beta" : "alpha") + " " + changed);
        }
    }
}
