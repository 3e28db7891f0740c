import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls a method as often as each line of its input says, and then tells what it did: "called 1000, threw 200". Every fifth call
 * ends by an exception, of all others every second one has the argument "even".
 */
public class Svc {
    private long sum;

    Svc(long start, String name, double unused) {
        sum = start;
    }

    long tiny(int n, String text) {
        if (n % 5 == 0) {
            throw new IllegalStateException(text);
        }
        return sum += n;
    }

    static native void nothing();

    /** So that there is something to sample. */
    private static void busy() {
        while (true) {
            Math.sqrt(System.nanoTime());
        }
    }

    public static void main(String[] args) throws Exception {
        Thread busy = new Thread(Svc::busy, "busy");
        busy.setDaemon(true);
        busy.start();
        Svc svc = new Svc(7, "first", 1.5);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int threw = 0;
            int calls = Integer.parseInt(line);
            for (int n = 1; n <= calls; n++) {
                try {
                    svc.tiny(n, n % 2 == 0 ? "even" : "odd");
                } catch (IllegalStateException e) {
                    threw++;
                }
            }
            new Svc(-3, "last", 2);
            System.out.println("called " + calls + ", threw " + threw + ", hash " + System.identityHashCode(svc));
        }
    }
}
