/**
 * Measures how long calls of two methods take: "step 0.290 mix 1.093" are nanoseconds, the least of some rounds. Step's loop is
 * little more than what is called; mix has a product that the next call waits for.
 */
public class WatchedCost {
    private long sum;

    long step(int n) {
        return sum += n;
    }

    static long mix(long n) {
        return n * 0x9E3779B97F4A7C15L ^ n >>> 29;
    }

    private static long steps(WatchedCost c, int calls) {
        for (int n = 0; n < calls; n++) {
            c.step(n);
        }
        return c.sum;
    }

    private static long mixes(int calls) {
        long n = 1;
        for (int i = 0; i < calls; i++) {
            n = mix(n);
        }
        return n;
    }

    public static void main(String[] args) {
        WatchedCost c = new WatchedCost();
        int calls = 20_000_000;
        double step = 1e9;
        double mix = 1e9;
        long used = 0;
        for (int round = 0; round < Integer.parseInt(args[0]); round++) {
            long begin = System.nanoTime();
            used += steps(c, calls);
            long middle = System.nanoTime();
            used += mixes(calls);
            long end = System.nanoTime();
            step = Math.min(step, (middle - begin) / (double) calls);
            mix = Math.min(mix, (end - middle) / (double) calls);
        }
        System.out.printf("step %.3f mix %.3f (%x)%n", step, mix, used);
    }
}
