/**
 * One thread runs a loop of many iterations, in which a JVM with -XX:-UseCountedLoopSafepoints
 * has no safepoint poll. Another thread asks for safepoints, and waits for the loop each time.
 */
public class Delay {
    static volatile long sink;
    static volatile boolean done;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 200; i++) {
            sink += spin(20_000); // so that it is compiled
        }
        Thread asking = new Thread(() -> {
            while (!done) {
                sink += Thread.getAllStackTraces().size();
                try {
                    Thread.sleep(5);
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        asking.start();
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        while (System.nanoTime() < end) {
            sink += spin(30_000_000);
            sink += brief(20_000);
        }
        done = true;
        asking.join();
        System.out.println("done");
    }

    static int spin(int n) {
        int x = 1;
        for (int i = 0; i < n; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    static int brief(int n) {
        int x = 1;
        for (int i = 0; i < n; i++) {
            x = x * 17 ^ i;
        }
        return x;
    }
}
