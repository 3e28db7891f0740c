/** Prints how long a call of each of two methods takes, and a look at the clock, in nanoseconds: the least of some rounds. */
public class CallCost {
    static final int CALLS = 2_000_000, ROUNDS = 12;

    static long counted(long a) {
        return a * 31 + 7;
    }

    static long other(long a) {
        return a * 31 + 7;
    }

    static long callCounted() {
        long v = 1;
        for (int i = 0; i < CALLS; i++) {
            v = counted(v);
        }
        return v;
    }

    static long callOther() {
        long v = 1;
        for (int i = 0; i < CALLS; i++) {
            v = other(v);
        }
        return v;
    }

    public static void main(String[] args) {
        double counted = 1e9, other = 1e9, clock = 1e9;
        long sink = 0;
        for (int k = 0; k < ROUNDS; k++) {
            long a = System.nanoTime();
            sink += callCounted();
            long b = System.nanoTime();
            sink += callOther();
            long c = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                sink += System.nanoTime();
            }
            long d = System.nanoTime();
            counted = Math.min(counted, (b - a) / (double) CALLS);
            other = Math.min(other, (c - b) / (double) CALLS);
            clock = Math.min(clock, (d - c) / (double) CALLS);
        }
        System.out.println("counted " + counted + " other " + other + " clock " + clock + " " + (sink == 0 ? "!" : ""));
    }
}
