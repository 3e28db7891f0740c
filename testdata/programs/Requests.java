import java.util.concurrent.SynchronousQueue;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Name;
import jdk.jfr.RecordingState;
import jdk.jfr.StackTrace;

/**
 * A server that has an event of Flight Recorder around each request, with System.nanoTime in it, and a thread that works in the
 * background meanwhile. It begins when a recording has begun. The argument is how many requests there are; with another
 * one it waits for a line before it ends, and with a third one for a line before it begins. It is for JDK 11 and newer.
 */
public class Requests {
    @Name("acme.Request")
    @StackTrace(false)
    static class Request extends Event {
        long nanoTime;
        int number;
    }

    static volatile boolean over;
    static volatile double sink;

    static double compute(int n) {
        double sum = 0;
        for (int i = 1; i < 20_000; i++) {
            sum += Math.sqrt(i * (n % 7 + 1));
        }
        return sum;
    }

    static double format(int n) {
        double sum = 0;
        for (int i = 0; i < 200; i++) {
            sum += Integer.toString(i * n).length();
        }
        return sum;
    }

    static void handle(int n) {
        sink = compute(n) + format(n);
    }

    static void background() {
        double sum = 0;
        while (!over) {
            for (int i = 1; i < 1000; i++) {
                sum += Math.cbrt(i);
            }
            sink = sum;
        }
    }

    public static void main(String[] args) throws Exception {
        int requests = Integer.parseInt(args[0]);
        System.out.println("READY");
        if (args.length > 2) {
            System.in.read();
        }
        for (long until = System.nanoTime() + 60_000_000_000L; System.nanoTime() < until; Thread.sleep(2)) {
            if (FlightRecorder.isInitialized() && FlightRecorder.getFlightRecorder().getRecordings().stream().anyMatch(r -> r.getState() == RecordingState.RUNNING)) {
                break;
            }
        }
        Thread background = new Thread(Requests::background, "background");
        background.start();
        SynchronousQueue<Integer> queue = new SynchronousQueue<>();
        Thread handler = new Thread(() -> {
            try {
                for (int n = queue.take(); n >= 0; n = queue.take()) {
                    Request e = new Request();
                    e.number = n;
                    e.nanoTime = System.nanoTime();
                    e.begin();
                    handle(n);
                    e.commit();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "handler");
        handler.start();
        for (int n = 0; n < requests; n++) {
            queue.put(n);
            if (n % 10 == 0) {
                Thread.sleep(1);
            }
            if (n % 400 == 0) {
                System.gc(); // a safepoint
            }
        }
        queue.put(-1);
        handler.join();
        over = true;
        background.join();
        System.out.println("DONE " + requests);
        if (args.length > 1) {
            System.in.read();
        }
    }
}
