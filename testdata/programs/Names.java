import java.util.concurrent.CountDownLatch;

/** Threads with known names, while collections move what they have. Each line of the input is answered by a line; the end of the input ends the program. */
public class Names {
    static volatile Object kept;

    public static void main(String[] args) throws Exception {
        String[] names = {"a", "exactly-15-byte", "one more than the kernel keeps", "t\u00fcrk\u00e7e ve \u00fc\u00e7\u00fcnc\u00fc uzun isim", "\u7ebf\u7a0b-1 \u4e00\u4e2a\u5f88\u957f\u7684\u540d\u5b57", "a 'quoted' <name> & more"};
        CountDownLatch started = new CountDownLatch(names.length);
        for (String name : names) {
            // The name is a string of its own, which a collection can move.
            Thread t = new Thread(() -> {
                started.countDown();
                while (true) {
                    kept = new byte[1024];
                    if (Thread.currentThread().isInterrupted()) {
                        return;
                    }
                    try {
                        Thread.sleep(1);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }, new String(name));
            t.setDaemon(true);
            t.start();
        }
        started.await();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            for (int i = 0; i < 1000; i++) {
                kept = new byte[100_000];
            }
            System.gc();
            System.out.println("collected");
        }
    }
}
