/**
 * Spins in one hot method, for tests that interrupt or kill what they profile.
 *
 * <p>Prints "READY pid" after half a second of warm-up, and ends by itself after -Dsec=600 seconds. With -Drest=4 it
 * sleeps for 4 ms after each ms that it has spun: a test that only needs a program with samples leaves the processor to
 * others. The warm-up is shorter then.
 */
public class Spin {
    static int spin(int h) {
        for (int i = 0; i < 100_000; i++) {
            h = h * 31 + (h >>> 5);
        }
        return h;
    }

    static int spinUntil(long end, int h) {
        while (System.nanoTime() - end < 0) {
            h = spin(h);
        }
        return h;
    }

    public static void main(String[] args) throws InterruptedException {
        long rest = Long.getLong("rest", 0);
        double sec = Double.parseDouble(System.getProperty("sec", "600"));
        long start = System.nanoTime(), end = start + (long) (sec * 1e9);
        int h = spinUntil(start + (rest > 0 ? 100_000_000L : 500_000_000L), 1);
        System.out.println("READY " + ProcessHandle.current().pid());
        System.out.flush();
        while (rest > 0 && System.nanoTime() - end < 0) {
            h = spinUntil(System.nanoTime() + 1_000_000L, h);
            Thread.sleep(rest);
        }
        h = spinUntil(end, h);
        System.out.println("sink " + h);
    }
}
