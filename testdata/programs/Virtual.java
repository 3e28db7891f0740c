import java.lang.reflect.Method;

/**
 * Virtual threads with call stacks that are known from this source. They yield and sleep deep in their stacks, and work on
 * the way back, when HotSpot has left some of their frames in the heap. The program needs JDK 21, and is compiled for an
 * older release. It runs until its input ends.
 */
public class Virtual {
    static volatile boolean ended;
    static volatile long sink;

    static long work(int n) {
        long x = n;
        for (int i = 0; i < 20000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L ^ x >>> 17;
        }
        sink = x;
        return x;
    }

    static long recurse(int depth) {
        if (depth == 0) {
            Thread.yield();
            return work(0);
        }
        return recurse(depth - 1) + work(depth);
    }

    static void yielding() {
        recurse(20);
    }

    static void sleeping() throws Exception {
        slept();
        work(1);
    }

    static void slept() throws Exception {
        Thread.sleep(1);
        work(2);
    }

    static void computing() {
        work(3);
    }

    interface Body {
        void run() throws Exception;
    }

    static void loop(Body body) {
        try {
            while (!ended) {
                body.run();
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        for (int i = 0; i < 4; i++) {
            start.invoke(null, (Runnable) () -> loop(Virtual::yielding));
            start.invoke(null, (Runnable) () -> loop(Virtual::sleeping));
            start.invoke(null, (Runnable) () -> loop(() -> {
                computing();
                Thread.yield();
            }));
        }
        System.out.println("READY");
        while (System.in.read() >= 0) {
        }
        ended = true;
    }
}
