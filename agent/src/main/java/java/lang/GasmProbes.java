package java.lang;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.LongBuffer;
import java.util.ArrayList;

/**
 * What probed methods call. It keeps the counts, times and events of each thread. The class belongs to the boot loader,
 * and to a package that every class loader and module can see.
 *
 * A probed method asks for its thread's object once ({@link #current}), and then reports its entry and its exit to that
 * object. Nothing here throws, blocks, or calls code that might be probed, with two exceptions: the first call in a
 * thread, and the first call of each method in a thread. These make room in the file. Meanwhile the thread counts
 * nothing, because all of its calls are gasm's own.
 */
public final class GasmProbes {
    // Kinds of events. gasm's package event/rings has the same numbers.
    private static final int ENTRY = 1, EXIT = 2, THROWN = 3, ACQUIRE = 4, RELEASE = 5, ALLOCATION = 6, OWNER = 7, INSIDE = 8;

    // Kinds of segments, and the longs of each one's header.
    private static final int RING = 1, CALLS = 2, WINDOWS = 3;
    private static final int KIND = 0, SIZE = 1, SLOT = 2, THREAD = 3, WRITTEN = 4, CAPACITY = 5, OPEN = 6, OPEN_SITE = 7, NAME = 8;
    private static final int SITE = 3, ENTRIES = 4, RETURNS = 5, THROWS = 6, NANOS = 7, MAX = 8;
    private static final int HEAD = 16; // number of longs before a segment's events or buckets

    // Each time from 0 to 31 ns has a bucket of its own. After that, each power of two has 16 buckets, up to 2^40 ns.
    private static final int BUCKETS = 32 + 35 * 16;

    private static final int FEW = 64, MOST = 256; // rings; from FEW on, rings of threads that have ended are reused

    private static final ThreadLocal<GasmProbes> LOCAL = new ThreadLocal<GasmProbes>();
    private static int session;
    private static GasmRings rings;
    private static GasmProbes shared; // for virtual threads, and for threads beyond MOST
    private static final ArrayList<GasmProbes> owners = new ArrayList<GasmProbes>();

    private final int mySession;
    private final WeakReference<Thread> thread; // null in the shared object
    private final GasmProbes out; // the object that has this thread's numbers: this one, or the shared one
    private boolean busy; // gasm's own code runs in this thread
    private int[] depth = new int[8]; // by site: number of calls that have not ended

    // These fields are only used if out is this object.
    private GasmRings file;
    private int slot, tid;
    private LongBuffer ring, windows;
    private int mask; // of the ring
    private long written, windowsWritten;
    private LongBuffer[] calls = new LongBuffer[8];

    private GasmProbes(int session, Thread thread, GasmProbes out) {
        this.mySession = session;
        this.thread = thread == null ? null : new WeakReference<Thread>(thread);
        this.out = out == null ? this : out;
    }

    /** Begins to count into a new file. */
    public static synchronized void start(String path, int ringEvents, int windowEvents, long limit, long pid) throws IOException {
        owners.clear();
        shared = null;
        rings = new GasmRings(path, ringEvents, windowEvents, limit, pid);
        session++;
    }

    /** Ends counting. Methods that are still running may write into the mapped file until they return. */
    public static synchronized void stop() {
        if (rings == null) {
            return;
        }
        session++;
        rings.stop();
        rings = null;
        for (GasmProbes p : owners) {
            p.forget();
        }
        if (shared != null) {
            shared.forget();
        }
        owners.clear();
        shared = null;
    }

    /** Releases the mapped memory, which threads would otherwise keep for as long as they live. */
    private void forget() {
        busy = true;
        ring = null;
        windows = null;
        calls = new LongBuffer[0];
        file = null;
    }

    /** Returns the calling thread's object. */
    public static GasmProbes current() {
        GasmProbes p = LOCAL.get();
        return p != null && p.mySession == session ? p : create();
    }

    private static GasmProbes create() {
        Thread t = Thread.currentThread();
        GasmProbes none = new GasmProbes(session, null, null);
        none.busy = true; // what is called from here is not counted
        LOCAL.set(none);
        try {
            GasmProbes p = make(t);
            if (p != null) {
                LOCAL.set(p);
                return p;
            }
        } catch (Throwable e) { // for example, the stack is full; the thread tries again at its next call
            LOCAL.remove();
        }
        return none;
    }

    private static synchronized GasmProbes make(Thread t) {
        if (rings == null) {
            return null;
        }
        boolean virtual = t.getClass().getName().equals("java.lang.VirtualThread");
        GasmProbes p = virtual ? null : ownObject(t);
        if (p != null) {
            return p;
        }
        if (shared == null) {
            shared = new GasmProbes(session, null, null);
            shared.file = rings;
            shared.slot = -1;
            if (!shared.addRing(0, virtual ? "virtual threads" : "other threads")) {
                shared = null;
                rings.refuse();
                return null;
            }
        }
        return new GasmProbes(session, t, shared);
    }

    /** Returns an object with a ring of its own, or null if there are too many rings or there is no room. */
    private static GasmProbes ownObject(Thread t) {
        GasmProbes p = new GasmProbes(session, t, null);
        p.file = rings;
        int tid = rings.threadID();
        if (owners.size() >= FEW) {
            for (int i = 0; i < owners.size(); i++) {
                Thread before = owners.get(i).thread.get();
                if (before == null || !before.isAlive()) {
                    p.takeOver(owners.get(i), tid);
                    owners.set(i, p);
                    return p;
                }
            }
        }
        if (owners.size() >= MOST) {
            return null;
        }
        p.slot = owners.size();
        if (!p.addRing(tid, t.getName())) {
            return null;
        }
        owners.add(p);
        return p;
    }

    /** Continues with the ring of a thread that has ended. */
    private void takeOver(GasmProbes ended, int tid) {
        slot = ended.slot;
        this.tid = tid;
        ring = ended.ring;
        mask = ended.mask;
        windows = ended.windows;
        written = ended.written;
        windowsWritten = ended.windowsWritten;
        calls = ended.calls;
        event(OWNER, 0, ended.tid, System.nanoTime(), 0);
        ring.put(THREAD, tid);
        putName(ring, "(several threads)");
    }

    private boolean addRing(int tid, String name) {
        this.tid = tid;
        ring = file.large(8 * (HEAD + 3 * file.ringEvents));
        if (ring == null) {
            return false;
        }
        mask = file.ringEvents - 1;
        ring.put(SIZE, 8 * (HEAD + 3 * file.ringEvents));
        ring.put(SLOT, slot);
        ring.put(THREAD, tid);
        ring.put(CAPACITY, file.ringEvents);
        putName(ring, name);
        ring.put(KIND, RING);
        return true;
    }

    private boolean addWindows() {
        LongBuffer w = file.large(8 * (HEAD + 3 * file.windowEvents));
        if (w == null) {
            return false;
        }
        w.put(SIZE, 8 * (HEAD + 3 * file.windowEvents));
        w.put(SLOT, slot);
        w.put(THREAD, tid);
        w.put(CAPACITY, file.windowEvents);
        w.put(KIND, WINDOWS);
        windows = w;
        return true;
    }

    /** Puts the first 63 bytes of a name into a segment's header. */
    private static void putName(LongBuffer to, String name) {
        for (int i = 0; i < 8; i++) {
            long word = 0;
            for (int j = 0; j < 8; j++) {
                int at = 8 * i + j;
                if (at < 63 && at < name.length()) {
                    char c = name.charAt(at);
                    word |= (long) (c < 128 ? c : '?') << 8 * j;
                }
            }
            to.put(NAME + i, word);
        }
    }

    /**
     * Reports that a method begins. The result is for the report of its exit: the time at which the method began. It is
     * negative if an outer call of the method has not ended, and 0 if the call is not counted.
     */
    public long enter(int site) {
        return begin(site, 0);
    }

    /** Does the same as enter, and also records the object that the method was called on. */
    public long enterOf(Object self, int site) {
        return begin(site, System.identityHashCode(self));
    }

    private long begin(int site, int hash) {
        if (busy || !ready(site)) {
            return 0;
        }
        boolean outer = depth[site]++ == 0;
        long now;
        GasmProbes o = out;
        if (o == this) {
            now = entered(site, hash);
        } else {
            synchronized (o) {
                now = o.entered(site, hash);
            }
        }
        return outer ? now : -now;
    }

    private long entered(int site, int hash) {
        LongBuffer c = callsOf(site);
        if (c != null) {
            c.put(ENTRIES, c.get(ENTRIES) + 1);
        }
        long now = System.nanoTime();
        event(ENTRY, site, 0, now, hash);
        return now;
    }

    /** Reports that a method returns. */
    public void leave(int site, long start) {
        if (start != 0) {
            end(EXIT, RETURNS, site, start, System.nanoTime());
        }
    }

    /** Reports that a method ends with an exception. */
    public void leaveThrown(int site, long start) {
        if (start != 0) {
            end(THROWN, THROWS, site, start, System.nanoTime());
        }
    }

    private void end(int kind, int counter, int site, long start, long now) {
        long nanos;
        int[] d = depth;
        if (start > 0) {
            nanos = now - start;
            d[site] = 0;
        } else {
            nanos = now + start;
            d[site]--;
        }
        GasmProbes o = out;
        if (o == this) {
            ended(kind, counter, site, nanos, start > 0, now);
        } else {
            synchronized (o) {
                o.ended(kind, counter, site, nanos, start > 0, now);
            }
        }
    }

    private void ended(int kind, int counter, int site, long nanos, boolean outer, long now) {
        LongBuffer c = callsOf(site);
        if (c != null) {
            c.put(counter, c.get(counter) + 1);
            if (outer) {
                c.put(NANOS, c.get(NANOS) + nanos);
            }
            if (nanos > c.get(MAX)) {
                c.put(MAX, nanos);
            }
            int bucket = HEAD + bucket(nanos);
            c.put(bucket, c.get(bucket) + 1);
        }
        event(kind, site, 0, now, 0);
    }

    private static int bucket(long nanos) {
        if (nanos < 32) {
            return nanos < 0 ? 0 : (int) nanos;
        }
        int power = 63 - Long.numberOfLeadingZeros(nanos); // at least 5
        if (power > 39) {
            return BUCKETS - 1;
        }
        return 32 + (power - 5 << 4) + (int) (nanos >>> power - 4 & 15);
    }

    /** Reports that a method begins that is a window. */
    public long enterWindow(int site) {
        return window(site, begin(site, 0));
    }

    /** Does the same as enterWindow, and also records the object that the method was called on. */
    public long enterWindowOf(Object self, int site) {
        return window(site, begin(site, System.identityHashCode(self)));
    }

    private long window(int site, long start) {
        if (start > 0 && out == this && (windows != null || openWindows())) {
            windows.put(OPEN_SITE, site);
            windows.put(OPEN, start);
        }
        return start;
    }

    private boolean openWindows() {
        busy = true;
        try {
            return addWindows();
        } finally {
            busy = false;
        }
    }

    /** Reports that a method ends that is a window. */
    public void leaveWindow(int site, long start, boolean thrown) {
        if (start == 0) {
            return;
        }
        long now = System.nanoTime();
        end(thrown ? THROWN : EXIT, thrown ? THROWS : RETURNS, site, start, now);
        LongBuffer w = windows;
        if (start > 0 && w != null) {
            int at = HEAD + 3 * (int) (windowsWritten & w.get(CAPACITY) - 1);
            w.put(at, start);
            w.put(at + 1, (long) INSIDE << 56 | (long) site << 32 | tid);
            w.put(at + 2, now);
            w.put(WRITTEN, ++windowsWritten);
            w.put(OPEN, 0);
        }
    }

    /** Reports that the thread has acquired an object's lock. */
    public static void acquired(Object of, int site, int bci) {
        current().count(ACQUIRE, ENTRIES, of, site, bci);
    }

    /** Reports that the thread is about to release an object's lock. */
    public static void released(Object of, int site, int bci) {
        current().count(RELEASE, RETURNS, of, site, bci);
    }

    /** Reports that an object was allocated. */
    public static void allocated(Object of, int site, int bci) {
        current().count(ALLOCATION, ENTRIES, of, site, bci);
    }

    private void count(int kind, int counter, Object of, int site, int bci) {
        if (busy || !ready(site)) {
            return;
        }
        int hash = System.identityHashCode(of);
        GasmProbes o = out;
        if (o == this) {
            counted(kind, counter, site, bci, hash);
        } else {
            synchronized (o) {
                o.counted(kind, counter, site, bci, hash);
            }
        }
    }

    private void counted(int kind, int counter, int site, int bci, int hash) {
        LongBuffer c = callsOf(site);
        if (c != null) {
            c.put(counter, c.get(counter) + 1);
        }
        event(kind, site, bci, System.nanoTime(), hash);
    }

    private void event(int kind, int site, int arg, long now, int hash) {
        LongBuffer r = ring;
        if (r == null) {
            return;
        }
        int at = HEAD + 3 * (int) (written & mask);
        r.put(at, now);
        r.put(at + 1, (long) kind << 56 | (long) site << 32 | arg & 0xffffffffL);
        r.put(at + 2, (long) hash << 32 | tid & 0xffffffffL);
        r.put(WRITTEN, ++written);
    }

    /** Makes room for a site in this thread. It returns false if there is no room. */
    private boolean ready(int site) {
        return site < depth.length && site < out.calls.length && out.calls[site] != null || makeReady(site);
    }

    private boolean makeReady(int site) {
        busy = true;
        try {
            if (site >= depth.length) {
                depth = java.util.Arrays.copyOf(depth, site + 8);
            }
            return out.addCalls(site);
        } catch (Throwable e) {
            return false;
        } finally {
            busy = false;
        }
    }

    private synchronized boolean addCalls(int site) {
        GasmRings f = file;
        if (f == null) {
            return false;
        }
        if (site < calls.length && calls[site] != null) {
            return true;
        }
        LongBuffer c = f.small(8 * (HEAD + BUCKETS));
        if (c == null) {
            f.uncounted();
            return false;
        }
        c.put(SIZE, 8 * (HEAD + BUCKETS));
        c.put(SLOT, slot);
        c.put(SITE, site);
        c.put(KIND, CALLS);
        LongBuffer[] grown = java.util.Arrays.copyOf(calls, Math.max(calls.length, site + 8));
        grown[site] = c;
        calls = grown;
        return true;
    }

    private LongBuffer callsOf(int site) {
        LongBuffer[] c = calls;
        return site < c.length ? c[site] : null;
    }
}
