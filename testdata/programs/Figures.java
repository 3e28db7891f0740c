import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * For each line that it reads, it collects garbage, stops threads for safepoints, for which it lets others wait, and has a method
 * compiled that was cold before: another one each time, for three times. Before and after that it does nothing for a while, and then
 * prints both times on the clock of HotSpot's log, System.nanoTime. It is for JDK 11 and newer.
 */
public class Figures {
    static volatile Object garbage;
    static volatile long sink;

    static long first(int n) {
        long h = n;
        for (int i = 0; i < n; i++) {
            h = h * 31 + (h >>> 5);
        }
        return h;
    }

    static long second(int n) {
        long h = n;
        for (int i = 0; i < n; i++) {
            h = h * 37 + (h >>> 7);
        }
        return h;
    }

    static long third(int n) {
        long h = n;
        for (int i = 0; i < n; i++) {
            h = h * 41 + (h >>> 9);
        }
        return h;
    }

    static void compute(int phase, long millis) {
        for (long end = System.nanoTime() + millis * 1_000_000; System.nanoTime() < end; ) {
            sink += phase == 0 ? first(2000) : phase == 1 ? second(2000) : third(2000);
        }
    }

    static void phase(int phase) throws InterruptedException {
        for (int i = 0; i < 300_000; i++) {
            garbage = new byte[200];
        }
        System.gc();
        Thread busy = new Thread(() -> compute(phase, 600));
        busy.start();
        while (busy.isAlive()) {
            sink += Thread.getAllStackTraces().size(); // a safepoint
            Thread.sleep(20);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        compute(0, 1);
        System.out.println("READY");
        for (int i = 0; in.readLine() != null; i++) {
            Thread.sleep(50);
            long began = System.nanoTime();
            phase(i);
            long ended = System.nanoTime();
            Thread.sleep(50);
            System.out.println("PHASE " + i + " from " + began + " to " + ended);
        }
    }
}
