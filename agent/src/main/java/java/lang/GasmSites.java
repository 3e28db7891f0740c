package java.lang;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The probes for other tracers: what probed methods call to reach the sites in a shared object. gasm has written the
 * object (package hotspot/sdt). A tracer watches a site, and reads the arguments of its calls.
 *
 * The semaphore of a site is the number of tracers that watch it. It is read at each call, at an address that is a
 * constant to JIT compilers. The MutableCallSite has this address, because gasm loads another object each time it
 * attaches.
 *
 * The kernel changes semaphores without the knowledge of JIT compilers, which may have moved the read out of a loop. So
 * a thread looks at all semaphores from time to time. If one has changed, it gives the MutableCallSite a new target.
 * The JVM then discards all compiled code that reads a semaphore, even that of running loops. (A volatile read would
 * not need this, but compilers would move nothing else across it either.)
 *
 * In JDK 9 to 16, compilers move nothing across any read outside the heap. That makes a loop with a field 2 ns slower
 * for each call (C2Access::needs_cpu_membar in JDK 11's c2/barrierSetC2.cpp). In these JDKs, the target is the constant
 * 0 until the thread sees that a tracer watches any site.
 */
public final class GasmSites implements Runnable {
    private static final int SIZE = 4; // of a semaphore, in bytes
    private static final MethodHandle NONE = MethodHandles.dropArguments(MethodHandles.constant(int.class, 0), 0, int.class);
    private static final MutableCallSite CURRENT = new MutableCallSite(NONE);
    private static final MethodHandle SEMAPHORE = CURRENT.dynamicInvoker();

    private static final long PAUSE = 50; // between two looks at all semaphores, in milliseconds

    private static int next; // the next free site
    private static int count;
    private static int loaded; // number of objects that were loaded
    private static Thread watcher; // null if no object is loaded
    private static final boolean FENCED = fenced(); // reading a semaphore is slow in this JDK

    // What the thread looks at.
    private final ByteBuffer semaphores;
    private final long address;

    private GasmSites(ByteBuffer semaphores) throws Throwable {
        this.semaphores = semaphores;
        Field field = Buffer.class.getDeclaredField("address");
        field.setAccessible(true);
        address = field.getLong(semaphores);
    }

    private static boolean fenced() {
        String version = String.valueOf(System.getProperty("java.specification.version"));
        return version.equals("9") || version.length() == 2 && version.compareTo("17") < 0;
    }

    /** Reports whether a tracer watches a site. */
    public static boolean on(int site) throws Throwable {
        return (int) SEMAPHORE.invokeExact(site) != 0;
    }

    /** Calls a site. A string that is not null is the argument in place of the number. */
    public static native void fire(int site, long v0, long v1, long v2, long v3, long v4, long v5, long v6, long v7,
        String s0, String s1, String s2, String s3, String s4, String s5, String s6, String s7);

    private static native ByteBuffer semaphores();

    /** Returns the number by which tracers know an object. */
    public static long id(Object object) {
        return System.identityHashCode(object);
    }

    /**
     * Calls the site of a constructor's entry. v1 to v7 are the arguments that are numbers, o1 to o7 those that are
     * objects.
     */
    public static void constructed(int site, Object self, long v1, long v2, long v3, long v4, long v5, long v6, long v7,
            Object o1, Object o2, Object o3, Object o4, Object o5, Object o6, Object o7) throws Throwable {
        if (on(site)) {
            fire(site, id(self), v1 + number(o1), v2 + number(o2), v3 + number(o3), v4 + number(o4), v5 + number(o5), v6 + number(o6),
                v7 + number(o7), null, text(o1), text(o2), text(o3), text(o4), text(o5), text(o6), text(o7));
        }
    }

    private static long number(Object object) {
        return object instanceof String ? 0 : id(object);
    }

    private static String text(Object object) {
        return object instanceof String ? (String) object : null;
    }

    /** Calls the site of an exit, for a method that returns a number or nothing. */
    public static void returned(long value, Object self, int site) throws Throwable {
        if (on(site)) {
            fireReturn(site, self, value, null, null);
        }
    }

    /** Calls the site of an exit, for a method that returns an object. */
    public static void returned(Object value, Object self, int site) throws Throwable {
        if (on(site)) {
            fireReturn(site, self, number(value), text(value), null);
        }
    }

    /** Calls the site of an exit by an exception. */
    public static void thrown(Throwable why, Object self, int site) throws Throwable {
        if (on(site)) {
            fireReturn(site, self, 0, null, why.getClass().getName());
        }
    }

    private static void fireReturn(int site, Object self, long value, String text, String thrown) {
        fire(site, id(self), value, 0, 0, 0, 0, 0, 0, null, text, thrown, null, null, null, null, null);
    }

    /** Returns a new name for the file of the next object. A JVM loads no file a second time under the same name. */
    public static synchronized String fileName(long pid) {
        return "java-" + pid + (loaded == 0 ? "" : "." + loaded) + ".so";
    }

    /** Loads an object. */
    public static synchronized void load(String object) throws Throwable {
        loaded++;
        System.load(object);
        GasmSites sites = new GasmSites(semaphores().order(ByteOrder.nativeOrder()));
        count = sites.semaphores.capacity() / SIZE;
        use(FENCED ? NONE : reader(sites.address));
        watcher = new Thread(sites, "gasm");
        watcher.setDaemon(true);
        watcher.start();
    }

    /** Stops using the object. The JVM keeps it mapped, because methods that are still running may call it. */
    public static synchronized void unload() {
        if (watcher != null) {
            watcher.interrupt();
            watcher = null;
        }
        count = 0;
        use(NONE);
    }

    private static void use(MethodHandle read) {
        CURRENT.setTarget(read);
        MutableCallSite.syncAll(new MutableCallSite[] {CURRENT});
    }

    /** Looks at all semaphores again and again, and makes the JVM compile code anew if one has changed. */
    @Override
    public void run() {
        int[] before = new int[semaphores.capacity() / SIZE];
        try {
            do {
                Thread.sleep(PAUSE);
            } while (!changed(before) || again(before));
        } catch (Throwable e) { // unload has ended it, or the heap is full; then running loops may notice late that they are watched
        }
    }

    private boolean changed(int[] before) {
        boolean changed = false;
        for (int i = 0; i < before.length; i++) {
            int now = semaphores.getInt(SIZE * i);
            changed |= now != before[i];
            before[i] = now;
        }
        return changed;
    }

    private boolean again(int[] watching) throws Throwable {
        boolean watched = !FENCED;
        for (int n : watching) {
            watched |= n != 0;
        }
        synchronized (GasmSites.class) {
            if (watcher == Thread.currentThread()) {
                use(watched ? reader(address) : NONE);
            }
            return watcher == Thread.currentThread();
        }
    }

    /**
     * Returns the first of two sites for a method: one is for its entry, the next one for its exits. It returns -1 if
     * all sites are in use. No site is used twice, because the method may still be running when gasm attaches again.
     */
    public static synchronized int add() {
        if (next + 2 > count) {
            return -1;
        }
        next += 2;
        return next - 2;
    }

    /** Returns a new method handle that reads the semaphore of a site: Unsafe.getInt(address + 4 * site). */
    private static MethodHandle reader(long address) throws Throwable {
        Class<?> type;
        MethodHandles.Lookup lookup;
        try {
            type = Class.forName("jdk.internal.misc.Unsafe");
            lookup = MethodHandles.lookup();
        } catch (ClassNotFoundException before9) {
            type = Class.forName("sun.misc.Unsafe");
            lookup = MethodHandles.publicLookup();
        }
        Field unsafe = type.getDeclaredField("theUnsafe");
        unsafe.setAccessible(true);
        MethodHandle read = lookup.findVirtual(type, "getInt", MethodType.methodType(int.class, long.class));
        MethodHandle place = lookup.findStatic(GasmSites.class, "place", MethodType.methodType(long.class, long.class, int.class));
        return MethodHandles.filterArguments(read.bindTo(unsafe.get(null)), 0,
            MethodHandles.insertArguments(place, 0, address));
    }

    /** Returns the address of a site's semaphore. */
    public static long place(long semaphores, int site) {
        return semaphores + SIZE * site;
    }
}
