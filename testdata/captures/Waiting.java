import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A program most of whose threads wait: for a lock whose owner waits for another one, for a server that is slow, for work,
 * for each other, or until a time is over. It ends after -Dsec seconds.
 */
public class Waiting {
    static final class Pool {}

    static final Pool POOL = new Pool();
    static final ReentrantLock JOURNAL = new ReentrantLock();
    static volatile double sink;

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + (long) (Double.parseDouble(System.getProperty("sec", "4")) * 1e9);
        ServerSocket server = new ServerSocket(0, 50, java.net.InetAddress.getLoopbackAddress());
        start("database", () -> database(server));
        start("writer", Waiting::write);
        start("ticker", Waiting::tick);
        start("burner", Waiting::burn);
        deadlock();
        ExecutorService http = pool("http-", 12);
        for (int i = 0; i < 12; i++) {
            boolean report = i == 0;
            http.submit(() -> {
                while (true) {
                    handle(report, server);
                }
            });
        }
        ExecutorService idle = pool("idle-", 20);
        CountDownLatch begun = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
            idle.submit(() -> {
                begun.countDown();
                begun.await();
                return null;
            });
        }
        Object never = new Object();
        synchronized (never) {
            for (long left; (left = end - System.nanoTime()) > 1_000_000; ) {
                never.wait(left / 1_000_000);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    static Thread start(String name, Body body) {
        Thread t = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    interface Body {
        void run() throws Exception;
    }

    static ExecutorService pool(String name, int threads) {
        AtomicInteger n = new AtomicInteger();
        return Executors.newFixedThreadPool(threads, r -> {
            Thread t = new Thread(r, name + n.incrementAndGet());
            t.setDaemon(true);
            return t;
        });
    }

    /** Answers each byte after 30 ms. */
    static void database(ServerSocket server) throws Exception {
        for (int n = 1; ; n++) {
            Socket s = server.accept();
            start("database-connection-" + n, () -> {
                InputStream in = s.getInputStream();
                OutputStream out = s.getOutputStream();
                for (int b; (b = in.read()) >= 0; ) {
                    Thread.sleep(30);
                    out.write(b);
                }
            });
        }
    }

    static final ThreadLocal<Socket> CONNECTION = new ThreadLocal<>();

    static void query(ServerSocket server) throws Exception {
        Socket s = CONNECTION.get();
        if (s == null) {
            s = new Socket(server.getInetAddress(), server.getLocalPort());
            CONNECTION.set(s);
        }
        s.getOutputStream().write(1);
        s.getInputStream().read();
    }

    static Object handle(boolean report, ServerSocket server) throws Exception {
        if (report) {
            synchronized (POOL) {
                append();
                query(server);
            }
            Thread.sleep(1);
        } else {
            take();
            query(server);
        }
        return null;
    }

    static void take() throws Exception {
        synchronized (POOL) {
            Thread.sleep(1);
        }
    }

    static void append() {
        JOURNAL.lock();
        JOURNAL.unlock();
    }

    static void write() throws Exception {
        while (true) {
            JOURNAL.lock();
            try {
                Thread.sleep(80);
            } finally {
                JOURNAL.unlock();
            }
            Thread.sleep(20);
        }
    }

    static void tick() throws Exception {
        while (true) {
            Thread.sleep(100);
        }
    }

    static void burn() {
        for (double x = 0; ; x += 1) {
            sink += Math.sqrt(x);
        }
    }

    /** Starts two threads that wait for each other after a second. */
    static void deadlock() {
        Object a = new Object(), b = new Object();
        start("left", () -> lockBoth(a, b));
        start("right", () -> lockBoth(b, a));
    }

    static void lockBoth(Object first, Object second) throws Exception {
        synchronized (first) {
            Thread.sleep(1000);
            synchronized (second) {
                throw new IllegalStateException("not a deadlock");
            }
        }
    }
}
