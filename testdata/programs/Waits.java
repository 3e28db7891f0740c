import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that knows for how long its threads have been in which state. It prints READY when all threads are there. For
 * each line of its input it prints the time of CLOCK_MONOTONIC and, for each state, how long the threads named "mixed" have
 * been in it so far, in ns; and the same for the threads named "holder", which hold the monitors that the others wait for.
 * It ends when its input ends.
 *
 * <p>Arguments, each a number: mixed threads, idle threads, pool threads that do nothing, pairs of threads that switch as fast
 * as they can, virtual threads that sleep, and then a FIFO from which a thread "fifo" reads, or "-". With -Dslower=N, mixed
 * threads stay in each state N times as long, and compute for 2 ms only.
 */
public class Waits {
  static volatile long result;

  interface Body {
    void run() throws Exception;
  }

  static Thread start(String name, Body body) {
    Thread t = new Thread(null, () -> {
      try {
        body.run();
      } catch (Exception e) {
        e.printStackTrace();
      }
    }, name, 192 << 10);
    t.setDaemon(true);
    t.start();
    return t;
  }

  static final String[] STATES = {"sleep", "park", "wait", "monitor", "socket", "on-processor", "short-sleep"};
  static final int SHORT_SLEEP = 6;
  static final int SLOWER = Integer.getInteger("slower", 1);

  /** Says for how long a thread was in each state. */
  static class Measured {
    private final long[] nanos = new long[STATES.length];
    private long since = System.nanoTime();
    private int state;

    /** Ends a state, and begins another one. */
    synchronized void begin(int next) {
      long now = System.nanoTime();
      nanos[state] += now - since;
      since = now;
      state = next;
    }

    synchronized void addTo(long[] sums) {
      begin(state);
      for (int i = 0; i < sums.length; i++) {
        sums[i] += nanos[i];
      }
    }
  }

  /** A thread that goes from one state to another, and measures for how long it was in each. */
  static final class Mixed extends Measured {
    final Random random;
    final Object own = new Object();
    final Object contended = new Object();
    final Socket socket;
    final Socket peer;
    final Measured holding = new Measured();
    volatile long holdUntil;
    volatile boolean held;
    Thread holder;

    Mixed(int seed, ServerSocket server) throws Exception {
      random = new Random(seed);
      socket = new Socket("127.0.0.1", server.getLocalPort());
      peer = server.accept();
      holder = start("holder", this::holding);
    }

    void run() throws Exception {
      while (true) {
        int next = random.nextInt(SHORT_SLEEP);
        int millis = (20 + random.nextInt(300)) * SLOWER;
        if (next == 3) {
          begin(SHORT_SLEEP); // until the monitor is held
          holdUntil = System.nanoTime() + millis * 1_000_000L;
          LockSupport.unpark(holder);
          while (!held) {
            Thread.sleep(1);
          }
        }
        begin(next);
        switch (next) {
          case 0: sleeping(millis); break;
          case 1: parking(millis); break;
          case 2: waiting(millis); break;
          case 3: blocking(); break;
          case 4: reading(millis); break;
          default: computing(SLOWER > 1 ? 2 : millis / 30);
        }
      }
    }

    /** Holds the monitor whenever it is asked to, until a time. */
    void holding() throws Exception {
      for (long until = 0; ; ) {
        holding.begin(1);
        while (holdUntil == until) {
          LockSupport.park(this);
        }
        holding.begin(0);
        until = holdUntil;
        synchronized (contended) {
          held = true;
          for (long left; (left = until - System.nanoTime()) > 0; ) {
            Thread.sleep(left / 1_000_000 + 1);
          }
          held = false;
        }
      }
    }

    void sleeping(int millis) throws Exception {
      Thread.sleep(millis);
    }

    void parking(int millis) {
      long until = System.nanoTime() + millis * 1_000_000L;
      for (long left; (left = until - System.nanoTime()) > 0; ) {
        LockSupport.parkNanos(this, left);
      }
    }

    void waiting(int millis) throws Exception {
      synchronized (own) {
        own.wait(millis);
      }
    }

    void blocking() {
      synchronized (contended) {
        result++;
      }
    }

    void reading(int millis) throws Exception {
      socket.setSoTimeout(millis);
      try {
        socket.getInputStream().read();
      } catch (SocketTimeoutException e) {
        // that is how it ends
      }
    }

    void computing(int millis) {
      long until = System.nanoTime() + millis * 1_000_000L;
      while (System.nanoTime() < until) {
        result++;
      }
    }
  }

  static void idle() {
    while (true) {
      LockSupport.park("nothing to do");
    }
  }

  static volatile Thread[] pairs;

  static void even(int of) {
    LockSupport.unpark(pairs[of ^ 1]);
    LockSupport.park();
  }

  static void odd(int of) {
    nested(of);
  }

  static void nested(int of) {
    even(of);
  }

  static void switching(int of) {
    for (long n = 0; ; n++) {
      if (n % 2 == 0) {
        even(of);
      } else {
        odd(of);
      }
    }
  }

  static void fifo(String path) throws Exception {
    try (FileInputStream in = new FileInputStream(path)) {
      in.read();
    }
  }

  static void virtual(int threads) throws Exception {
    Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
    java.lang.reflect.Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
    for (int i = 0; i < threads; i++) {
      start.invoke(builder, (Runnable) () -> {
        try {
          Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
          // nobody does that
        }
      });
    }
  }

  public static void main(String[] args) throws Exception {
    ServerSocket server = new ServerSocket(0);
    List<Mixed> all = new ArrayList<>();
    for (int i = Integer.parseInt(args[0]); i > 0; i--) {
      Mixed m = new Mixed(i, server);
      all.add(m);
      start("mixed", m::run);
    }
    for (int i = Integer.parseInt(args[1]); i > 0; i--) {
      start("idle", Waits::idle);
    }
    int threads = Integer.parseInt(args[2]);
    if (threads > 0) {
      ExecutorService pool = Executors.newFixedThreadPool(threads, r -> {
        Thread t = new Thread(r);
        t.setDaemon(true);
        return t;
      });
      for (int i = 0; i < threads; i++) {
        pool.submit(() -> result++);
      }
    }
    Thread[] some = new Thread[2 * Integer.parseInt(args[3])];
    pairs = some;
    for (int i = 0; i < some.length; i++) {
      int of = i;
      some[i] = new Thread(() -> switching(of), "switching");
      some[i].setDaemon(true);
    }
    for (Thread t : some) {
      t.start();
    }
    int ofVirtual = Integer.parseInt(args[4]);
    if (ofVirtual > 0) {
      virtual(ofVirtual);
    }
    if (!args[5].equals("-")) {
      start("fifo", () -> fifo(args[5]));
    }
    System.out.println("READY");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    while (in.readLine() != null) {
      long[] mixed = new long[STATES.length];
      long[] holders = new long[STATES.length];
      long now = System.nanoTime();
      for (Mixed m : all) {
        m.addTo(mixed);
        m.holding.addTo(holders);
      }
      StringBuilder line = new StringBuilder("" + (now / 2 + System.nanoTime() / 2));
      for (int i = 0; i < mixed.length; i++) {
        line.append(' ').append(STATES[i]).append(' ').append(mixed[i]);
        line.append(" holder-").append(STATES[i]).append(' ').append(holders[i]);
      }
      System.out.println(line);
    }
    System.exit(0);
  }
}
