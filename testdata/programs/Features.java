import java.util.Locale;

/**
 * A program for which each feature of gasm has something to show, and that prints itself what that is. It works as
 * {@link Shares}, whose methods take their shares of the time, and beside that allocates, collects garbage, and has a
 * loop that C2 makes vectors of. Run it with the options of Shares; -Dsec=0 has it work until it is killed.
 *
 * <p>After DONE it prints what Shares does, and how often {@link Maker#make} was called since the start.
 */
public class Features {
    static final int[] vector = new int[1 << 12];
    /** A loop of which C2 makes vectors. */
    static void add(int[] a, int by) {
        for (int i = 0; i < a.length; i++) {
            a[i] += by;
        }
    }

    /** A class of its own, so that none of its methods runs for long when it is probed. */
    static class Maker {
        static Object made;
        static long calls;

        /** Allocates an object and an array. */
        static void make(int length) {
            calls++;
            made = new Node(new long[length]);
        }
    }

    static class Node {
        final long[] longs;

        Node(long[] longs) {
            this.longs = longs;
        }
    }

    static void runUntil(long end, boolean forever) {
        long collect = System.nanoTime() + 1_000_000_000L;
        while (forever || System.nanoTime() - end < 0) {
            Shares.rounds(10, 1);
            for (int i = 0; i < 20; i++) {
                Maker.make(8 + i);
                add(vector, i);
            }
            if (System.nanoTime() - collect > 0) {
                System.gc();
                collect = System.nanoTime() + 1_000_000_000L;
            }
        }
    }

    public static void main(String[] args) {
        double warmup = Double.parseDouble(System.getProperty("warmup", "1.5"));
        double sec = Double.parseDouble(System.getProperty("sec", "3"));
        Shares.fill();
        for (int i = 0; i < 500; i++) {
            Shares.rounds(20, 500);
            Maker.make(8);
            add(vector, i);
        }
        runUntil(System.nanoTime() + (long) (warmup * 1e9), false);

        Shares.heavyNanos = Shares.middleNanos = Shares.lightNanos = 0;
        System.out.println("MEASURE");
        System.out.flush();
        runUntil(System.nanoTime() + (long) (sec * 1e9), sec == 0);
        System.out.println("DONE");
        System.out.flush();
        Shares.print();
        System.out.printf(Locale.ROOT, "calls %d%n", Maker.calls);
    }
}
