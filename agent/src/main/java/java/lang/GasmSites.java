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
 * The sites of a shared object that gasm has written (its package hotspot/sdt), which tracers watch: what the code of methods calls
 * that are probed for them.
 *
 * A semaphore says how many tracers watch a site. It is read at each call, at an address that JIT compilers take for a constant: a
 * MutableCallSite has it, because it is another one when gasm attaches another time with another object.
 *
 * The kernel changes semaphores, of which a JIT compiler knows nothing: it may move the reading out of a loop. So a thread looks at all
 * of them now and then. Where one has changed, it gives the MutableCallSite a new target, and the JVM throws away all compiled code that
 * reads a semaphore, also that of loops that run. (A volatile reading would keep the compiler from moving anything else, too.)
 *
 * JDK 9 to 16 keep the compiler from moving anything across each reading that is not of the heap, which makes a loop with a field take
 * 2 ns longer for a call (C2Access::needs_cpu_membar in JDK 11's c2/barrierSetC2.cpp). There the target is the constant 0 until the
 * thread sees that a tracer watches any site.
 */
public final class GasmSites implements Runnable {
    private static final int SIZE = 4; // of a semaphore, in bytes
    private static final MethodHandle NONE = MethodHandles.dropArguments(MethodHandles.constant(int.class, 0), 0, int.class);
    private static final MutableCallSite CURRENT = new MutableCallSite(NONE);
    private static final MethodHandle SEMAPHORE = CURRENT.dynamicInvoker();

    private static final long PAUSE = 50; // between two looks at all semaphores, in milliseconds

    private static int next; // the next free site
    private static int count;
    private static int loaded; // objects
    private static Thread watcher; // null when there is no object
    private static final boolean FENCED = fenced(); // reading a semaphore costs

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

    /** Tells whether a tracer watches a site. */
    public static boolean on(int site) throws Throwable {
        return (int) SEMAPHORE.invokeExact(site) != 0;
    }

    /** Calls a site. Where a string is not null, it is the argument in place of the number. */
    public static native void fire(int site, long v0, long v1, long v2, long v3, long v4, long v5, long v6, long v7,
        String s0, String s1, String s2, String s3, String s4, String s5, String s6, String s7);

    private static native ByteBuffer semaphores();

    /** Gives what a tracer gets of an object. */
    public static long id(Object object) {
        return System.identityHashCode(object);
    }

    /** Tells of the entry of a constructor: numbers, and for those that are objects these. */
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

    /** Tells of a return. */
    public static void returned(long value, Object self, int site) throws Throwable {
        if (on(site)) {
            fireReturn(site, self, value, null, null);
        }
    }

    /** Tells of the return of an object. */
    public static void returned(Object value, Object self, int site) throws Throwable {
        if (on(site)) {
            fireReturn(site, self, number(value), text(value), null);
        }
    }

    /** Tells of an exit by an exception. */
    public static void thrown(Throwable why, Object self, int site) throws Throwable {
        if (on(site)) {
            fireReturn(site, self, 0, null, why.getClass().getName());
        }
    }

    private static void fireReturn(int site, Object self, long value, String text, String thrown) {
        fire(site, id(self), value, 0, 0, 0, 0, 0, 0, null, text, thrown, null, null, null, null, null);
    }

    /** Gives the name of the next object's file. A JVM loads no file a second time under the same name. */
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

    /** Ends the use of an object. The JVM keeps it mapped, because methods that still run may call it. */
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

    /** Has the JVM compile anew when a semaphore has changed. */
    @Override
    public void run() {
        int[] before = new int[semaphores.capacity() / SIZE];
        try {
            do {
                Thread.sleep(PAUSE);
            } while (!changed(before) || again(before));
        } catch (Throwable e) { // the end, or a full heap: then loops that run may see late that they are watched
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
     * Gives the two sites of a method: the first for its entry, the next for its exits; -1 when all are in use. A site is never given
     * twice, because the method may still run when gasm has gone and come again.
     */
    public static synchronized int add() {
        if (next + 2 > count) {
            return -1;
        }
        next += 2;
        return next - 2;
    }

    /** Gives what reads the semaphore of a site: Unsafe.getInt(address + 4 * site). It is a new object each time. */
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

    /** Gives the address of a site's semaphore. */
    public static long place(long semaphores, int site) {
        return semaphores + SIZE * site;
    }
}
