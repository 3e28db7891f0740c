import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.Deflater;

/**
 * A program that knows what each of its threads does. The name of a thread is that of the method in which it stays. It
 * prints READY when all threads are there, and ends when its input ends.
 */
public class Doing {
  static final Object monitor = new Object();
  static final Object condition = new Object();
  static final ReentrantLock lock = new ReentrantLock();
  static final Object first = new Object();
  static final Object second = new Object();
  static final Object one = new Object();
  static final Object another = new Object();
  static volatile long result;
  static volatile boolean firstSwitches; // the first of the threads that switch has been in even and in odd
  static volatile boolean secondSwitches;
  static List<byte[]> memory;
  static Socket accepted; // is closed when it is collected

  interface Body {
    void run() throws Exception;
  }

  static Thread start(String name, Body body) {
    Thread t = new Thread(() -> {
      try {
        body.run();
      } catch (Exception e) {
        e.printStackTrace();
      }
    }, name);
    t.setDaemon(true);
    t.start();
    return t;
  }

  /** Waits until a thread is in a state. */
  static void await(Thread t, Thread.State state) throws Exception {
    while (t.getState() != state) {
      Thread.sleep(1);
    }
  }

  static void holding() throws Exception {
    synchronized (monitor) {
      nested();
    }
  }

  static synchronized void nested() throws Exception {
    Thread.sleep(Long.MAX_VALUE);
  }

  static void blocked() {
    synchronized (monitor) {
      result++;
    }
  }

  static void waiting() throws Exception {
    synchronized (condition) {
      condition.wait();
    }
  }

  static void timed() throws Exception {
    synchronized (condition) {
      condition.wait(1_000_000_000);
    }
  }

  static void parked() {
    while (true) {
      LockSupport.park("a blocker");
    }
  }

  static void owning() throws Exception {
    lock.lock();
    Thread.sleep(Long.MAX_VALUE);
  }

  static void locking() {
    lock.lock();
  }

  static void left() throws Exception {
    synchronized (first) {
      Thread.sleep(300);
      synchronized (second) {
        result++;
      }
    }
  }

  static void right() throws Exception {
    synchronized (second) {
      Thread.sleep(300);
      synchronized (first) {
        result++;
      }
    }
  }

  static void accepting(ServerSocket server) throws Exception {
    server.accept();
  }

  static void receiving(InputStream in) throws Exception {
    in.read();
  }

  static void busy() {
    long x = 1;
    while (x != 0) {
      x = x * 31 | 1;
    }
    result = x;
  }

  static void compressing() {
    byte[] in = new byte[16 << 20];
    byte[] out = new byte[32 << 20];
    for (int i = 0; i < in.length; i++) {
      in[i] = (byte) (i * i >>> 7);
    }
    while (true) {
      Deflater d = new Deflater(9);
      d.setInput(in);
      d.finish();
      d.deflate(out);
      d.end();
    }
  }

  static void collecting() {
    while (true) {
      System.gc();
    }
  }

  static void recursing(int depth) {
    if (depth > 0) {
      recursing(depth - 1);
    } else {
      LockSupport.park();
      recursing(0);
    }
  }

  /** Two threads that wake each other up as fast as they can. Each is in even or in odd, never in both. */
  static void switching(Thread[] other, int self) {
    while (other[0] == null || other[1] == null) {
      Thread.yield();
    }
    for (int i = 0;; i++) {
      if (i == 2 && self == 0) {
        firstSwitches = true;
      } else if (i == 2) {
        secondSwitches = true;
      }
      if (i % 2 == 0) {
        even(other[1 - self], 3);
      } else {
        odd(other[1 - self], 5);
      }
    }
  }

  static void even(Thread other, int depth) {
    if (depth > 0) {
      even(other, depth - 1);
      return;
    }
    LockSupport.unpark(other);
    LockSupport.parkNanos(100_000);
  }

  static void odd(Thread other, int depth) {
    if (depth > 0) {
      odd(other, depth - 1);
      return;
    }
    LockSupport.unpark(other);
    LockSupport.parkNanos(50_000);
  }

  /** Several threads that wait for the same two monitors nearly all the time, but never for one while they have the other. */
  static void contending() throws Exception {
    while (true) {
      synchronized (Math.random() < 0.5 ? one : another) {
        Thread.sleep(1);
      }
    }
  }

  static void virtual() {
    busy();
  }

  static void startVirtual() throws Exception {
    Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
    Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
    builder = type.getMethod("name", String.class).invoke(builder, "a virtual thread");
    type.getMethod("start", Runnable.class).invoke(builder, (Runnable) Doing::virtual);
  }

  public static void main(String[] args) throws Exception {
    String what = args.length > 0 ? args[0] : "";
    if (what.equals("switching")) {
      Thread[] both = new Thread[2];
      both[0] = start("switching", () -> switching(both, 0));
      both[1] = start("switching", () -> switching(both, 1));
      while (!firstSwitches || !secondSwitches) {
        Thread.sleep(1);
      }
    } else if (what.equals("contending")) {
      for (int i = 0; i < 6; i++) {
        start("contending", Doing::contending);
      }
    } else if (what.equals("memory")) {
      memory = new ArrayList<>();
      try {
        while (true) {
          memory.add(new byte[1 << 10]);
        }
      } catch (OutOfMemoryError e) {
        memory.subList(memory.size() - 4000, memory.size()).clear(); // some is left for the threads
      }
    }
    if (what.equals("virtual")) {
      startVirtual();
    }
    await(start("holding", Doing::holding), Thread.State.TIMED_WAITING);
    await(start("blocked", Doing::blocked), Thread.State.BLOCKED);
    await(start("waiting", Doing::waiting), Thread.State.WAITING);
    await(start("timed", Doing::timed), Thread.State.TIMED_WAITING);
    await(start("parked", Doing::parked), Thread.State.WAITING);
    await(start("owning", Doing::owning), Thread.State.TIMED_WAITING);
    await(start("locking", Doing::locking), Thread.State.WAITING);
    await(start("recursing", () -> recursing(50)), Thread.State.WAITING);
    Thread left = start("left", Doing::left);
    Thread right = start("right", Doing::right);
    await(left, Thread.State.BLOCKED);
    await(right, Thread.State.BLOCKED);
    ServerSocket server = new ServerSocket(0);
    Socket client = new Socket("127.0.0.1", server.getLocalPort());
    InputStream in = client.getInputStream();
    accepted = server.accept();
    start("accepting", () -> accepting(server));
    start("receiving", () -> receiving(in));
    if (what.equals("busy")) {
      start("busy", Doing::busy);
      start("compressing", Doing::compressing);
    } else if (what.equals("collecting")) {
      memory = new ArrayList<>();
      for (int i = 0; i < 400_000; i++) {
        memory.add(new byte[64]);
      }
      start("busy", Doing::busy);
      start("collecting", Doing::collecting);
    }
    Thread.sleep(300);
    System.out.println("READY " + server.getLocalPort() + " " + client.getLocalPort());
    System.in.read();
  }
}
