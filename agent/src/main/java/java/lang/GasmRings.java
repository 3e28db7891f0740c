package java.lang;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * The file in which the threads of a JVM count. It has a header and then segments, which gasm's package event/rings
 * describes. All space is written before it is mapped, because a store into a mapped file on a full disk would end the
 * program with SIGBUS.
 */
final class GasmRings implements PrivilegedAction<Object> {
    static final int HEADER = 4096;
    private static final long MAGIC = 0x31626f72706d6767L; // "ggmprob1"
    // The longs of the header.
    private static final int PID = 1, STARTED = 2, USED = 3, REFUSED = 4, UNCOUNTED = 5, STOPPED = 6;

    private static final int CHUNK = 256 << 10, CHUNK_HEAD = 128, CHUNK_KIND = 4; // small segments share a chunk, which is mapped at once

    final int ringEvents;
    final int windowEvents;
    private final File file;
    private final long limit;
    private final LongBuffer header;
    private long used;
    private ByteBuffer chunk; // rest of the last chunk; null if there is none
    private boolean full;

    // What run() is to do. These fields are used under the lock of this object.
    private int wanted;
    private boolean wantThread;

    GasmRings(String path, int ringEvents, int windowEvents, long limit, long pid) throws IOException {
        this.file = new File(path);
        this.ringEvents = ringEvents;
        this.windowEvents = windowEvents;
        this.limit = limit;
        ByteBuffer first = map(HEADER);
        if (first == null) {
            throw new IOException("there is no room for " + path);
        }
        header = longs(first);
        use(HEADER);
        header.put(PID, pid);
        header.put(STARTED, System.nanoTime());
        header.put(0, MAGIC);
    }

    /** Returns a segment with a mapping of its own, or null if the disk or the limit is full. */
    synchronized LongBuffer large(int bytes) {
        return segment(map(bytes), bytes);
    }

    /**
     * Writes a segment's size into it, and counts it as used only then. So a reader finds no segment without a size.
     */
    private LongBuffer segment(ByteBuffer b, int bytes) {
        if (b == null) {
            return null;
        }
        LongBuffer words = longs(b);
        words.put(1, bytes);
        use(bytes);
        return words;
    }

    private void use(int bytes) {
        used += bytes;
        header.put(USED, used);
    }

    /** Returns a segment that shares a mapping with others, or null if the disk or the limit is full. */
    synchronized LongBuffer small(int bytes) {
        if (chunk == null || chunk.remaining() < bytes) {
            chunk = map(CHUNK);
            if (chunk == null) {
                return null;
            }
            segment(chunk, CHUNK).put(0, CHUNK_KIND);
            chunk.position(CHUNK_HEAD);
        }
        ByteBuffer rest = chunk.slice();
        rest.limit(bytes);
        chunk.position(chunk.position() + bytes);
        return longs(rest.slice());
    }

    private static LongBuffer longs(ByteBuffer b) {
        return b == null ? null : b.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
    }

    synchronized void refuse() {
        header.put(REFUSED, header.get(REFUSED) + 1);
    }

    synchronized void uncounted() {
        header.put(UNCOUNTED, header.get(UNCOUNTED) + 1);
    }

    synchronized void stop() {
        header.put(STOPPED, System.nanoTime());
    }

    /** Adds bytes to the file and maps them. */
    private ByteBuffer map(int bytes) {
        if (full || used + bytes > limit) {
            return null;
        }
        wanted = bytes;
        wantThread = false;
        ByteBuffer mapped = (ByteBuffer) privileged();
        if (mapped == null) {
            full = true;
        }
        return mapped;
    }

    /** Returns the calling thread's id in the kernel, or 0 if it is unknown. */
    synchronized int threadID() {
        wantThread = true;
        return (Integer) privileged();
    }

    private Object privileged() {
        // An interrupted thread would close the channel that it uses.
        boolean interrupted = Thread.interrupted();
        try {
            return AccessController.doPrivileged(this);
        } catch (NoClassDefFoundError e) { // a JDK without AccessController
            return run();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Does what needs permissions that the program may not have. */
    @Override
    public Object run() {
        if (wantThread) {
            return readThreadID();
        }
        for (int tries = 0; tries < 3; tries++) {
            try {
                return extend();
            } catch (java.nio.channels.ClosedByInterruptException e) {
                Thread.interrupted(); // the interrupt came during extend
            } catch (IOException | OutOfMemoryError e) {
                return null;
            }
        }
        return null;
    }

    private ByteBuffer extend() throws IOException {
        try (RandomAccessFile f = new RandomAccessFile(file, "rw")) {
            byte[] zeros = new byte[Math.min(wanted, 64 << 10)];
            try {
                f.seek(used);
                for (int left = wanted; left > 0; left -= zeros.length) {
                    f.write(zeros, 0, Math.min(left, zeros.length));
                }
                return f.getChannel().map(FileChannel.MapMode.READ_WRITE, used, wanted);
            } catch (IOException e) {
                f.setLength(used);
                throw e;
            }
        }
    }

    /** Reads "4711 (name) S ...". */
    private static Integer readThreadID() {
        byte[] text = new byte[16];
        int n = 0;
        try (InputStream in = new FileInputStream("/proc/thread-self/stat")) {
            n = in.read(text);
        } catch (IOException e) {
            return 0; // not Linux
        }
        int id = 0;
        for (int i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
            id = 10 * id + text[i] - '0';
        }
        return id;
    }
}
