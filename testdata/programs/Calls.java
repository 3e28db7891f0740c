import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that knows how often its methods are called, and how long they take. It prints lines of a name and a number, and "identity" with the
 * identity hash of an object that is used before and after a collection, and "before" and "after" with its addresses.
 *
 * With -Dsec=N it serves for so long instead: handle() in main, and background() in another thread. With -Dask=true it does what the lines of
 * its stdin say: "work", "metaspace".
 */
public class Calls {
    static final int THREADS = 8, CALLS = 20000;
    static final AtomicLong entered = new AtomicLong(), thrown = new AtomicLong(), made = new AtomicLong(), failed = new AtomicLong();
    static final AtomicLong recursive = new AtomicLong(), locked = new AtomicLong(), allocated = new AtomicLong(), areas = new AtomicLong();
    static volatile long sink;
    static long inside; // slow(), by its own clock

    final int number;

    Calls(int number) {
        super();
        if (number < 0) {
            failed.incrementAndGet();
            throw new IllegalArgumentException("negative");
        }
        this.number = number;
        made.incrementAndGet();
    }

    interface Shape {
        double area();
    }

    static class Square implements Shape {
        @Override
        public double area() {
            areas.incrementAndGet();
            return 4;
        }
    }

    static class Circle implements Shape {
        @Override
        public double area() {
            areas.incrementAndGet();
            return 3.14;
        }
    }

    static long count(long a) {
        entered.incrementAndGet();
        return 31 * a + 7;
    }

    static long count(String s) { // another one of the same name
        return s.length();
    }

    static void sometimes(int i) {
        try {
            if (i % 3 == 0) {
                thrown.incrementAndGet();
                throw new IllegalStateException("three");
            }
        } finally {
            sink = i;
        }
    }

    static int fibonacci(int n) {
        recursive.incrementAndGet();
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    synchronized void synchronizedMethod(int i) {
        locked.incrementAndGet();
        if (i % 5 == 0) {
            throw new IllegalStateException("five");
        }
    }

    void block(Object lock) {
        synchronized (lock) {
            locked.incrementAndGet();
            synchronized (this) {
                locked.incrementAndGet();
            }
        }
    }

    static Object[] allocate(int n) {
        Object[] all = new Object[n];
        for (int i = 0; i < n; i++) {
            all[i] = i % 2 == 0 ? new Object() : new int[i][2];
        }
        allocated.addAndGet(n + 1);
        return all;
    }

    /** Takes 20 microseconds. */
    static void slow() {
        long begin = System.nanoTime(), now;
        while ((now = System.nanoTime()) < begin + 20000) {
            sink++;
        }
        inside += now - begin;
    }

    static long brief(long a) {
        return a ^ a << 3;
    }

    static void twice(Object moved) {
        synchronized (moved) {
            sink++;
        }
    }

    void itself() {
        sink++;
    }

    /** Makes objects that nothing leads to, on both sides of one that a collector is to move. */
    static void garbage() {
        for (int i = 0; i < 40000; i++) {
            sink += new byte[64 + i % 2].length;
        }
    }

    /** Gives where an object is, as an array of objects has it; of a compressed reference any number that stands for it. */
    static long address(Object of) throws Exception {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field theUnsafe = type.getDeclaredField("theUnsafe");
        theUnsafe.setAccessible(true);
        Object unsafe = theUnsafe.get(null);
        Object[] array = {of};
        long base = (Integer) type.getMethod("arrayBaseOffset", Class.class).invoke(unsafe, Object[].class);
        if ((Integer) type.getMethod("arrayIndexScale", Class.class).invoke(unsafe, Object[].class) == 4) {
            return (Integer) type.getMethod("getInt", Object.class, long.class).invoke(unsafe, array, base) & 0xffffffffL;
        }
        // ZGC's, which has 16 bits below the address that say what the collector knows. On x86 the zeros at the address's end overlap with
        // the four of them that say by how much it is shifted (ZPointer in HotSpot's gc/z/zAddress.hpp).
        long reference = (Long) type.getMethod("getLong", Object.class, long.class).invoke(unsafe, array, base);
        return reference >>> 13 + Long.numberOfTrailingZeros(reference >>> 12 & 15);
    }

    static void worker(int me) {
        long v = me;
        for (int i = 0; i < CALLS; i++) {
            v = count(v);
        }
        sink = v + count("text");
        fibonacci(12);
        Shape[] shapes = {new Square(), new Circle()};
        for (int i = 0; i < 1000; i++) {
            try {
                sometimes(i);
            } catch (IllegalStateException e) {
                sink++;
            }
            try {
                Calls p = new Calls(i - 10);
                p.block(shapes);
                p.synchronizedMethod(i);
            } catch (IllegalArgumentException | IllegalStateException e) {
                sink++;
            }
            sink += (long) shapes[i & 1].area();
        }
        Runnable lambda = () -> sink++;
        for (int i = 0; i < 10; i++) {
            lambda.run();
            sink += allocate(i).length;
        }
    }

    public static void main(String[] args) throws Exception {
        if (Boolean.getBoolean("ask")) {
            ask();
            return;
        }
        if (Integer.getInteger("sec", 0) > 0) {
            serve(Integer.getInteger("sec"));
            return;
        }
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            final int me = i;
            threads[i] = new Thread(() -> worker(me), "worker " + i);
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        times();
        garbage();
        Calls moved = new Calls(7);
        garbage();
        System.out.printf("identity %08x%n", System.identityHashCode(moved));
        twice(moved);
        moved.itself();
        long before = address(moved);
        System.gc();
        long after = address(moved);
        twice(moved);
        moved.itself();
        System.out.println("before " + before);
        System.out.println("after " + after);
        print("entered", entered);
        print("thrown", thrown);
        print("made", made);
        print("failed", failed);
        print("recursive", recursive);
        print("locked", locked);
        print("allocated", allocated);
        print("areas", areas);
    }

    static void print(String name, AtomicLong n) {
        System.out.println(name + " " + n);
    }

    static void times() {
        slow(); // the first call of a thread makes room for what it counts, which takes milliseconds
        long all = inside;
        for (int i = 0; i < 2000; i++) {
            long start = System.nanoTime();
            slow();
            all += System.nanoTime() - start;
        }
        System.out.println("slow " + all);
        System.out.println("inside " + inside);
        long v = 1;
        for (int i = 0; i < 50000; i++) { // until it is compiled
            v = brief(v);
        }
        long start = System.nanoTime();
        for (int i = 0; i < 500000; i++) {
            v = brief(v);
        }
        System.out.println("brief " + (System.nanoTime() - start));
        sink = v;
        System.out.println("clock " + clock());
    }

    /** Nanoseconds that a look at the clock takes: the least of some rounds. */
    static long clock() {
        long least = Long.MAX_VALUE;
        for (int k = 0; k < 20; k++) {
            long start = System.nanoTime();
            for (int i = 0; i < 10000; i++) {
                sink += System.nanoTime();
            }
            least = Math.min(least, (System.nanoTime() - start) / 10000);
        }
        return least;
    }

    static long handle(int k) {
        long s = 0;
        for (int i = 0; i < 20000; i++) {
            s += i * k ^ s;
        }
        return s + part(k);
    }

    static long part(int k) {
        long s = 1;
        for (int i = 0; i < 10000; i++) {
            s = s * 31 + (i ^ k);
        }
        return s;
    }

    static long background(int k) {
        long s = 0;
        for (int i = 0; i < 100000; i++) {
            s += i ^ s << 1;
        }
        return s;
    }

    static void serve(int sec) throws Exception {
        long end = System.nanoTime() + sec * 1000000000L;
        Thread other = new Thread(() -> {
            for (int i = 0; System.nanoTime() < end; i++) {
                sink = background(i);
            }
        }, "background");
        other.start();
        System.out.println("READY");
        for (int k = 0; System.nanoTime() < end; k++) {
            sink = handle(k);
            sink = background(k);
        }
        other.join();
    }

    static void ask() throws Exception {
        Calls p = new Calls(7);
        int calls = Integer.getInteger("calls", 100000);
        metaspace();
        System.out.println("READY");
        for (int c; (c = System.in.read()) >= 0; ) {
            if (c == 'm') {
                System.out.println("metaspace " + metaspace());
            } else if (c == 'w') {
                long v = 1;
                for (int i = 0; i < calls; i++) {
                    v = count(v);
                }
                p.block(p);
                System.out.println("work " + v);
            }
        }
    }

    static long metaspace() {
        System.gc();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals("Metaspace")) {
                return pool.getUsage().getUsed();
            }
        }
        return 0;
    }
}
