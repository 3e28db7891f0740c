import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.*;

/** Commits events for the tests of package jfr. The first argument says which, the second how many. */
public class Recorded {
    @Name("test.Everything")
    @Label("Everything")
    @Description("A field of each type that an event of a program's own may have")
    @Category({"Test", "Own"})
    @StackTrace(true)
    static class Everything extends Event {
        boolean bool;
        byte int8;
        short int16;
        int int32;
        long int64;
        char character;
        float float32;
        double float64;
        String text;
        Class<?> type;
        Thread thread;
        @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH) long millis;
        @Timestamp(Timestamp.TICKS) long ticks;
        @Timespan(Timespan.TICKS) long spanTicks;
        @Timespan(Timespan.NANOSECONDS) long spanNanos;
        @Timespan(Timespan.MICROSECONDS) long spanMicros;
        @Timespan(Timespan.MILLISECONDS) long spanMillis;
        @Timespan(Timespan.SECONDS) int spanSeconds;
        @Percentage float share;
        @DataAmount long bytes;
        @Frequency int hertz;
        @Unsigned byte unsigned8;
        @Unsigned short unsigned16;
        @Unsigned int unsigned32;
        @Unsigned long unsigned64;
        @MemoryAddress long address;
        transient int notRecorded = 5;
    }

    @Name("test.Small")
    @StackTrace(false)
    static class Small extends Event {
        long nanoTime;
        int number;
    }

    static final long[] LONGS = {0, 1, -1, 127, 128, -128, 255, 256, 16383, 16384, 1L << 31, -(1L << 31), 1L << 53, 1234567890123456789L, -1234567890123456789L,
        Long.MAX_VALUE, Long.MIN_VALUE};
    static final double[] DOUBLES = {0, -0.0, 1, -1.5, Math.PI, 1e-300, 1e300, Float.MIN_VALUE, Float.MAX_VALUE, Double.MIN_VALUE, Double.MAX_VALUE,
        Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY};
    static final String[] TEXTS = {null, "", "x", "plain", "Grüße", "long enough for the pool of strings", "long enough, too: Ελλάδα and \u4e2d\u6587 for the pool",
        "\u4e2d\u6587", "pair \ud83d\ude00", "half \ud83d", "line\nbreak \"quoted\" \\ / \u0000 \u0001 \u007f \u0080", "x".repeat(5000), "é".repeat(200)};
    static final char[] CHARS = {'x', ' ', '"', 'ü', '\u4e2d', '\uffff', '\n'};
    static final Class<?>[] CLASSES = {null, String.class, int.class, int[].class, Recorded[].class, Everything.class, Thread.State.class};

    static void everything(int i, Thread other) {
        Everything e = new Everything();
        e.begin();
        long n = LONGS[i % LONGS.length];
        e.bool = i % 2 == 0;
        e.int8 = (byte) n;
        e.int16 = (short) n;
        e.int32 = (int) n;
        e.int64 = n;
        e.character = CHARS[i % CHARS.length];
        e.float64 = DOUBLES[i % DOUBLES.length];
        e.float32 = (float) e.float64;
        e.text = TEXTS[i % TEXTS.length];
        e.type = CLASSES[i % CLASSES.length];
        e.thread = i % 3 == 0 ? null : i % 3 == 1 ? other : Thread.currentThread();
        e.millis = i % 7 == 0 ? Long.MIN_VALUE : System.currentTimeMillis() + i;
        e.ticks = i % 5 * 1000_003L;
        e.spanTicks = n;
        e.spanNanos = n;
        e.spanMicros = i % 6 == 0 ? n == Long.MIN_VALUE || n == Long.MAX_VALUE ? n : n >> 20 : i;
        e.spanMillis = i % 4 == 0 ? n == Long.MIN_VALUE || n == Long.MAX_VALUE ? n : n >> 30 : -i;
        e.spanSeconds = i;
        e.share = 1f / (i + 1);
        e.bytes = n;
        e.hertz = i;
        e.unsigned8 = (byte) n;
        e.unsigned16 = (short) n;
        e.unsigned32 = (int) n;
        e.unsigned64 = n;
        e.address = n;
        if (i % 10 == 0) {
            LockSupport.parkNanos(100_000);
        }
        e.commit();
    }

    static void small(int i) {
        Small e = new Small();
        e.number = i;
        e.nanoTime = System.nanoTime();
        e.begin();
        e.end();
        e.commit();
    }

    static int deep(int depth, int i, Thread other) {
        if (depth == 0) {
            everything(i, other);
            return 1;
        }
        return deep(depth - 1, i, other) + 1;
    }

    static volatile Object sink;

    /** Makes the JVM's own events: collections, contended locks, exceptions, classes, threads, compilations. */
    static void busy() throws Exception {
        Object lock = new Object();
        CountDownLatch held = new CountDownLatch(1);
        Thread main = Thread.currentThread();
        Thread holder = new Thread(() -> {
            for (int i = 0; i < 20; i++) {
                synchronized (lock) {
                    held.countDown();
                    try {
                        do {
                            Thread.sleep(1);
                        } while (i == 0 && main.getState() != Thread.State.BLOCKED);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        }, "Fäden \u4e2d");
        holder.start();
        held.await(); // so that the lock is contended, even if the holder starts late
        for (int i = 0; i < 20; i++) {
            synchronized (lock) {
                sink = new byte[1 << 20];
            }
        }
        holder.join();
        for (int i = 0; i < 50; i++) {
            try {
                Class.forName("none.such.Class" + i);
            } catch (ClassNotFoundException e) {
                sink = e;
            }
        }
        java.nio.file.Path file = java.nio.file.Files.createTempFile("recorded", ".txt");
        java.nio.file.Files.write(file, new byte[100_000]);
        sink = java.nio.file.Files.readAllBytes(file);
        java.nio.file.Files.delete(file);
        System.gc();
        Thread.sleep(25);
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[1]);
        switch (args[0]) {
            case "everything":
                Thread other = new Thread("never started \u00e4");
                for (int i = 0; i < n; i++) {
                    deep(i % 90, i, other);
                }
                busy();
                break;
            case "recordings": // one after the other, by the settings of the JDK and those of a file
                Configuration[] all = {Configuration.getConfiguration("default"), Configuration.getConfiguration("profile"),
                    Configuration.create(java.nio.file.Paths.get(args[3]))};
                for (int k = 0; k < all.length; k++) {
                    try (Recording r = new Recording(all[k])) {
                        r.start();
                        for (int i = 0; i < n; i++) {
                            deep(i % 90, i, Thread.currentThread());
                        }
                        busy();
                        r.stop();
                        r.dump(java.nio.file.Paths.get(args[2] + k));
                    }
                }
                break;
            case "chunks": // JFR begins a new chunk at most once a second
                for (int k = 0; k < 3; k++) {
                    for (int i = 0; i < n; i++) {
                        everything(i, Thread.currentThread());
                    }
                    Thread.sleep(1500);
                }
                break;
            case "small":
                for (int i = 0; i < n; i++) {
                    small(i);
                }
                break;
            case "slow": // events that are spread over time
                for (int i = 0; i < n; i++) {
                    small(i);
                    Thread.sleep(1);
                }
                break;
            case "collect": // with garbage between
                for (int i = 0; i < n; i++) {
                    small(i);
                    for (int k = 0; k < 10; k++) {
                        sink = new byte[10_000];
                    }
                    Thread.sleep(1);
                }
                break;
            case "wait": // until it is killed
                for (int i = 0; ; i++) {
                    small(i);
                    Thread.sleep(1);
                    if (i == n) {
                        System.out.println("READY");
                    }
                }
        }
    }
}
