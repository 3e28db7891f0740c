import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/**
 * Makes garbage, of which a part lives for a while, until a number of collections is over, and
 * prints what the JVM's beans say of all collections: their number, and their time in ms. With another argument it goes
 * on to make garbage, less of it, until it is killed, and is busy for about a fifth of the time.
 */
public class Pauses {
    static Object[] live = new Object[1 << 14];

    public static void main(String[] args) throws InterruptedException {
        int wanted = Integer.parseInt(args[0]);
        for (int i = 0; collections()[0] < wanted; i++) {
            for (int k = 0; k < 1000; k++) {
                live[(i * 31 + k * 17) & (live.length - 1)] = new Object[64 + (k & 63)];
            }
        }
        System.gc();
        long[] all = collections();
        System.out.println("collections " + all[0] + " millis " + all[1]);
        for (int i = 0; args.length > 1; i++) {
            live[i & 15] = new Object[10_000];
            for (long end = System.nanoTime() + 250_000; System.nanoTime() - end < 0; ) {
                live[16] = live[i & 15];
            }
            Thread.sleep(1);
        }
    }

    static long[] collections() {
        long[] all = new long[2];
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (!bean.getName().equals("G1 Concurrent GC")) { // JDK 20 and newer: Remark and Cleanup
                all[0] += bean.getCollectionCount();
                all[1] += bean.getCollectionTime();
            }
        }
        return all;
    }
}
