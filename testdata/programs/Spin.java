/**
 * Spins in one hot method, for tests that interrupt or kill what they profile.
 *
 * <p>Prints "READY pid" after half a second of warm-up, and ends by itself after -Dsec=600 seconds.
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

    public static void main(String[] args) {
        double sec = Double.parseDouble(System.getProperty("sec", "600"));
        long start = System.nanoTime();
        int h = spinUntil(start + 500_000_000L, 1);
        System.out.println("READY " + ProcessHandle.current().pid());
        System.out.flush();
        h = spinUntil(start + (long) (sec * 1e9), h);
        System.out.println("sink " + h);
    }
}
