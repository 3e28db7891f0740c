package java.lang;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.LongBuffer;
import java.util.ArrayList;

/**
 * What probed methods call: counts, times and events of a thread. The class is one of the boot loader's, in a package that every
 * class loader and module sees.
 *
 * A probed method asks for its thread's object once ({@link #current}), and then tells it of its entry and its exit. Nothing here
 * throws, blocks, or calls what might be probed, but for the first call of a thread and the first call of a method in it, which make
 * room in the file. While that is done the thread counts nothing, because all calls are gasm's own.
 */
public final class GasmProbes {
    // Kinds of events. gasm's package event/rings has the same numbers.
    private static final int ENTRY = 1, EXIT = 2, THROWN = 3, ACQUIRE = 4, RELEASE = 5, ALLOCATION = 6, OWNER = 7, INSIDE = 8;

    // Kinds of segments, and the longs of each one's header.
    private static final int RING = 1, CALLS = 2, WINDOWS = 3;
    private static final int KIND = 0, SIZE = 1, SLOT = 2, THREAD = 3, WRITTEN = 4, CAPACITY = 5, OPEN = 6, OPEN_SITE = 7, NAME = 8;
    private static final int SITE = 3, ENTRIES = 4, RETURNS = 5, THROWS = 6, NANOS = 7, MAX = 8;
    private static final int HEAD = 16; // longs in front of a segment's events or buckets

    // Buckets: 0 to 31 ns each its own, then 16 for each power of two, up to 2^40 ns.
    private static final int BUCKETS = 32 + 35 * 16;

    private static final int FEW = 64, MOST = 256; // rings; beyond FEW those of threads that have ended are used again

    private static final ThreadLocal<GasmProbes> LOCAL = new ThreadLocal<GasmProbes>();
    private static int session;
    private static GasmRings rings;
    private static GasmProbes shared; // of virtual threads, and of threads beyond MOST
    private static final ArrayList<GasmProbes> owners = new ArrayList<GasmProbes>();

    private final int mySession;
    private final WeakReference<Thread> thread; // null of the shared one
    private final GasmProbes out; // where this thread's numbers go: itself, or the shared one
    private boolean busy; // gasm's own code runs in this thread
    private int[] depth = new int[8]; // of the calls of each site that have not ended

    // Of an object that is its own out.
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

    /** Ends it. Methods that still run may write into what is mapped until they return. */
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

    /** Lets go of what is mapped, which threads would otherwise keep as long as they live. */
    private void forget() {
        busy = true;
        ring = null;
        windows = null;
        calls = new LongBuffer[0];
        file = null;
    }

    /** Gives the calling thread's object. */
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
        } catch (Throwable e) { // as of a full stack: the thread counts next time, if it can
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

    /** Gives an object with a ring of its own; null when there are too many, or there is no room. */
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

    /** Goes on with the ring of a thread that has ended. */
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

    /** Tells that a method begins. The result is for its exit: when it began, negative where an outer call of it has not ended; 0 for nothing. */
    public long enter(int site) {
        return begin(site, 0);
    }

    /** Does the same, and keeps whose method it is. */
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

    /** Tells that a method returns. */
    public void leave(int site, long start) {
        if (start != 0) {
            end(EXIT, RETURNS, site, start, System.nanoTime());
        }
    }

    /** Tells that a method ends by an exception. */
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

    /** Tells that a method begins which is a window. */
    public long enterWindow(int site) {
        return window(site, begin(site, 0));
    }

    /** Does the same, and keeps whose method it is. */
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

    /** Tells that a method ends which is a window. */
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

    /** Tells that the thread has got an object's lock. */
    public static void acquired(Object of, int site, int bci) {
        current().count(ACQUIRE, ENTRIES, of, site, bci);
    }

    /** Tells that the thread is about to give it back. */
    public static void released(Object of, int site, int bci) {
        current().count(RELEASE, RETURNS, of, site, bci);
    }

    /** Tells of a new object. */
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

    /** Makes room for a site in this thread. It is false where there is none. */
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
