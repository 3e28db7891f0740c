import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * A program whose threads are blocked by the kernel or by the JVM, and know for how long. Each thread has the name of the
 * method in which it is blocked. The program prints READY when all threads are there. For each line of its input it prints
 * the time of CLOCK_MONOTONIC and, for each name, how long the threads of that name have been blocked so far, in ns. It
 * ends when its input ends.
 *
 * <p>Arguments: "files", a folder that has the files "open", "read" and "sync", and the number of threads for each; or
 * "safepoints".
 */
public class Blocks {
  static final List<Blocker> all = new ArrayList<>();
  static volatile long result;

  /** A thread that is blocked again and again. */
  abstract static class Blocker extends Thread {
    private long nanos;
    private long since; // 0 if it is not blocked

    Blocker(String name) {
      super(name);
      setDaemon(true);
      all.add(this);
    }

    abstract void block() throws Exception;

    synchronized void begin() {
      since = System.nanoTime();
    }

    synchronized void end() {
      nanos += System.nanoTime() - since;
      since = 0;
    }

    synchronized void add(long more) {
      nanos += more;
    }

    synchronized long sum(long now) {
      return nanos + (since == 0 ? 0 : now - since);
    }

    @Override
    public void run() {
      try {
        while (true) {
          begin();
          block();
          end();
          Thread.sleep(20 + (long) (Math.random() * 150));
        }
      } catch (Exception e) {
        e.printStackTrace();
      }
    }
  }

  static final class Reading extends Blocker {
    private final RandomAccessFile file;
    private long at;

    Reading(String path, int part, int parts) throws Exception {
      super("reading");
      file = new RandomAccessFile(path, "r");
      at = file.length() / parts * part;
    }

    @Override
    void block() throws Exception {
      file.seek(at += 1 << 16);
      file.read();
    }
  }

  static final class Syncing extends Blocker {
    private final FileDescriptor file;

    Syncing(String path) throws Exception {
      super("syncing");
      file = new RandomAccessFile(path, "rw").getFD();
    }

    @Override
    void block() throws Exception {
      file.sync();
    }
  }

  static final class Opening extends Blocker {
    private final String path;

    Opening(String path) {
      super("opening");
      this.path = path;
    }

    @Override
    void block() throws Exception {
      new FileInputStream(path).close();
    }
  }

  static final class Faulting extends Blocker {
    private final MappedByteBuffer map;
    private int at;

    Faulting(String path, int part, int parts) throws Exception {
      super("faulting");
      FileChannel file = new RandomAccessFile(path, "r").getChannel();
      map = file.map(FileChannel.MapMode.READ_ONLY, file.size() / parts * part, file.size() / parts);
    }

    @Override
    void block() {
      result += map.get(at += 1 << 16);
    }
  }

  /** Its child lives as long as this program, and the JVM has a thread that waits for its end in a system call. */
  static void startChild() throws Exception {
    new ProcessBuilder("cat").redirectInput(ProcessBuilder.Redirect.PIPE).start();
  }

  static final class Collecting extends Blocker {
    Collecting() {
      super("collecting");
    }

    @Override
    void block() {
      System.gc();
    }
  }

  /** A thread that runs all the time, except while it is stopped at a safepoint. */
  static final class Polling extends Blocker {
    Polling() {
      super("polling");
    }

    @Override
    void block() {}

    @Override
    public void run() {
      for (long last = System.nanoTime(); ; ) {
        long now = System.nanoTime();
        if (now - last > 3_000_000) { // an interrupt takes less
          add(now - last);
        }
        last = now;
      }
    }
  }

  /** Without strip mining, the compiled loop does not poll, so safepoints begin at its end only. */
  static int loop(int rounds) {
    int x = 1;
    for (int i = 0; i < rounds; i++) {
      x = x * 31 ^ i;
    }
    return x;
  }

  static void hindering() {
    for (int i = 0; i < 30_000; i++) {
      result += loop(1000);
    }
    try {
      while (true) {
        for (long until = System.nanoTime() + 100_000_000; System.nanoTime() < until; ) {
          result += loop(30_000_000);
        }
        Thread.sleep(100);
      }
    } catch (InterruptedException e) {
      // nobody does that
    }
  }

  static String sums() {
    while (true) {
      long now = System.nanoTime();
      StringBuilder line = new StringBuilder("" + now);
      for (String name : new String[] {"reading", "syncing", "opening", "faulting", "collecting", "polling"}) {
        long sum = 0;
        for (Blocker b : all) {
          sum += b.getName().equals(name) ? b.sum(now) : 0;
        }
        line.append(' ').append(name).append(' ').append(sum);
      }
      if (System.nanoTime() - now < 2_000_000) { // otherwise, the sums may be of a later time
        return line.toString();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Object[] live = new Object[0];
    if (args[0].equals("files")) {
      int threads = Integer.parseInt(args[2]);
      for (int i = 0; i < threads; i++) {
        new Reading(args[1] + "/read", i, 2 * threads);
        new Faulting(args[1] + "/read", threads + i, 2 * threads);
        new Syncing(args[1] + "/sync");
        new Opening(args[1] + "/open");
      }
      startChild();
    } else {
      live = new Object[500_000];
      for (int i = 0; i < live.length; i++) {
        live[i] = new byte[64];
      }
      new Collecting();
      new Polling();
      Thread hindering = new Thread(Blocks::hindering, "hindering");
      hindering.setDaemon(true);
      hindering.start();
    }
    for (Blocker b : all) {
      b.start();
    }
    Thread.sleep(500);
    System.out.println("READY");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    while (in.readLine() != null) {
      System.out.println(sums());
    }
    System.exit(live.length < 0 ? 1 : 0);
  }
}
