import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that wait at places that are known from this source. A quarter of them are started directly, a quarter
 * by an executor, a quarter in a ThreadFlock of the main thread, which structured concurrency uses, and a quarter in a
 * ThreadFlock of a virtual thread in that one, which is parked, too. The program prints READY when all of them have
 * begun. It needs JDK 21, and is compiled for an older release. It runs until its input ends.
 *
 * <p>Arguments, or none if there are to be no virtual threads: how many threads sleep, are parked, read a socket, wait
 * for a lock, and wait for a monitor. In JDK 21 to 23, a thread that waits for a monitor remains mounted. After these
 * numbers may be "-", if all threads are to be started directly or by an executor; or "busy": then eight more threads
 * block and run all the time, and the program allocates 200 MB a second at most, so that the collector runs.
 */
public class Unmounted {
    static final Object BLOCKER = new StringBuilder("what threads are parked for");
    static final Object OTHER = new StringBuffer();
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Object MONITOR = new Object();
    static volatile boolean ended;
    static volatile Object sink;
    static CountDownLatch begun;

    interface Body {
        void run() throws Exception;
    }

    static void sleeping() throws Exception {
        Thread.sleep(1_000_000_000);
    }

    static void parked() {
        while (!ended) {
            LockSupport.park(BLOCKER);
        }
    }

    static void reading(InputStream in) throws Exception {
        in.read();
    }

    static void locking() {
        LOCK.lock();
        LOCK.unlock();
    }

    static void monitor() {
        synchronized (MONITOR) {
            sink = MONITOR;
        }
    }

    static void even(Thread[] pairs, int of) {
        LockSupport.unpark(pairs[of ^ 1]);
        LockSupport.park(BLOCKER);
    }

    static void odd(Thread[] pairs, int of) {
        LockSupport.unpark(pairs[of ^ 1]);
        LockSupport.park(OTHER);
    }

    static void switching(Thread[] pairs, int of) {
        for (int n = 0; !ended; n++) {
            if (n % 2 == 0) {
                even(pairs, of);
            } else {
                odd(pairs, of);
            }
        }
    }

    static Runnable task(Body body) {
        return () -> {
            begun.countDown();
            try {
                body.run();
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        };
    }

    static List<Socket> sockets = new ArrayList<>();

    static InputStream connect(ServerSocket server) throws Exception {
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        sockets.add(client);
        sockets.add(server.accept());
        return client.getInputStream();
    }

    static Object flock(String name) {
        try {
            return Class.forName("jdk.internal.misc.ThreadFlock").getMethod("open", String.class).invoke(null, name);
        } catch (ReflectiveOperationException e) {
            throw new RuntimeException(e);
        }
    }

    static void start(Object flock, Thread thread) {
        try {
            flock.getClass().getMethod("start", Thread.class).invoke(flock, thread);
        } catch (ReflectiveOperationException e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            System.out.println("READY");
            while (System.in.read() >= 0) {
            }
            return;
        }
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        ThreadFactory factory = (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory")
            .invoke(builder);
        Executor executor = (Executor) Class.forName("java.util.concurrent.Executors")
            .getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        LOCK.lock();
        List<Body> bodies = new ArrayList<>();
        for (int kind = 0; kind < 5; kind++) {
            for (int n = Integer.parseInt(args[kind]); n > 0; n--) {
                switch (kind) {
                    case 0: bodies.add(Unmounted::sleeping); break;
                    case 1: bodies.add(Unmounted::parked); break;
                    case 2: InputStream in = connect(server); bodies.add(() -> reading(in)); break;
                    case 3: bodies.add(Unmounted::locking); break;
                    default: bodies.add(Unmounted::monitor);
                }
            }
        }
        begun = new CountDownLatch(bodies.size());
        String more = args.length > 5 ? args[5] : "";
        Object outer = more.equals("-") ? null : flock("outer");
        synchronized (MONITOR) {
            for (int i = 0; i < bodies.size(); i++) {
                if (i % 4 == 1 || i % 4 == 2 && outer == null) {
                    executor.execute(task(bodies.get(i)));
                } else if (i % 4 == 0 || outer == null) {
                    factory.newThread(task(bodies.get(i))).start();
                } else if (i % 4 == 2) {
                    start(outer, factory.newThread(task(bodies.get(i))));
                }
            }
            if (outer != null) {
                start(outer, factory.newThread(() -> {
                    Object inner = flock("inner");
                    for (int i = 3; i < bodies.size(); i += 4) {
                        start(inner, factory.newThread(task(bodies.get(i))));
                    }
                    parked();
                }));
            }
            begun.await();
            Thread.sleep(500); // they block soon after they have begun
            if (more.equals("busy")) {
                Thread[] pairs = new Thread[8];
                for (int i = 0; i < pairs.length; i++) {
                    int of = i;
                    pairs[i] = factory.newThread(() -> switching(pairs, of));
                }
                for (Thread thread : pairs) {
                    thread.start();
                }
                Thread allocating = new Thread(() -> {
                    while (!ended) {
                        for (int i = 0; i < 20; i++) {
                            sink = new byte[10_000];
                        }
                        LockSupport.parkNanos(1_000_000);
                    }
                });
                allocating.setDaemon(true);
                allocating.start();
            }
            System.out.println("READY");
            while (System.in.read() >= 0) {
            }
        }
        ended = true;
        System.exit(0);
    }
}
