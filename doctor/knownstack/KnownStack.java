/**
 * Has a thread whose call stack is known from this source. gasm doctor samples it, to find out whether gasm walks the
 * stacks of a JDK's JVM as it should. The program ends when its input ends.
 *
 * KnownStack.class is a part of gasm. After a change, make it anew:
 * javac --release 8 -g:none -d doctor/knownstack doctor/knownstack/KnownStack.java
 */
final class KnownStack extends Thread {
    static volatile long sink;

    KnownStack() {
        super("known");
        setDaemon(true);
    }

    /** Takes nearly all of the time. gasm doctor forbids HotSpot to inline it. */
    static long work(long x) {
        for (int i = 0; i < 5000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L ^ x >>> 17;
        }
        return x;
    }

    static long recurse(int depth) {
        return depth == 0 ? work(sink) : recurse(depth - 1) + 1;
    }

    @Override
    public void run() {
        while (true) {
            sink = recurse(30);
        }
    }

    public static void main(String[] args) throws Exception {
        new KnownStack().start();
        while (System.in.read() >= 0) {
        }
    }
}
