import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.zip.Deflater;

/**
 * Has a thread for each way to get from Thread.run to work(), each with a call stack that is known from this source.
 * It runs until its input ends, or for ever if it has an argument.
 */
public class Stacks {
    static volatile boolean ended;
    static volatile long sink;
    static final Object LOCK = new Object();

    /** The leaf of most threads. The tests compile it alone. */
    static long work(int n) {
        long x = n;
        for (int i = 0; i < 2000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L ^ x >>> 17;
        }
        sink = x;
        return x;
    }

    static long recurse(int depth) {
        return depth == 0 ? work(depth) : recurse(depth - 1) + 1;
    }

    static void recursion() {
        recurse(200);
    }

    static void random() {
        recurse((int) (System.nanoTime() & 127));
    }

    static void lambda() {
        IntUnaryOperator f = x -> (int) work(x);
        f.applyAsInt(3);
    }

    interface Shape {
        long area(int x);
    }

    static class Circle implements Shape {
        public long area(int x) {
            return work(x);
        }
    }

    static class Square implements Shape {
        public long area(int x) {
            return work(x + 1);
        }
    }

    static class Star implements Shape {
        public long area(int x) {
            return work(x + 2);
        }
    }

    static final Shape[] SHAPES = {new Circle(), new Square(), new Star()};
    static int next;

    static void megamorphic() {
        SHAPES[next++ % 3].area(next);
    }

    static void thrown() {
        try {
            throwing();
        } catch (IllegalStateException e) {
            work(2);
        }
    }

    static void throwing() {
        if (sink != 1) {
            throw new IllegalStateException();
        }
    }

    static int compare(Integer a, Integer b) {
        work(1);
        return a.compareTo(b);
    }

    static final Comparator<Integer> ORDER = Stacks::compare;

    static void sorted() {
        List<Integer> list = new ArrayList<>(Arrays.asList(5, 3, 9, 1, 7));
        list.sort(ORDER);
    }

    static void reflected() throws Exception {
        Stacks.class.getDeclaredMethod("work", int.class).invoke(null, 4);
    }

    static void format() {
        sink = String.format("%d %s %08x", sink, "text", sink).length();
    }

    static final byte[] DATA = new byte[1 << 14];

    static void deflated() {
        Deflater d = new Deflater();
        d.setInput(DATA);
        d.finish();
        byte[] out = new byte[1 << 15];
        while (!d.finished()) {
            sink = d.deflate(out);
        }
        d.end();
    }

    static void allocated() {
        Object[] kept = new Object[1000];
        for (int i = 0; i < kept.length; i++) {
            kept[i] = new byte[200];
        }
        sink = kept.length;
    }

    static void copied() {
        System.arraycopy(DATA, 0, DATA, 1, DATA.length - 1);
    }

    static void read() throws Exception {
        try (java.io.FileInputStream in = new java.io.FileInputStream("/dev/zero")) {
            byte[] buffer = new byte[1 << 15];
            for (int i = 0; i < 50; i++) {
                sink = in.read(buffer);
            }
        }
    }

    static void locked() {
        synchronized (LOCK) {
            work(7);
        }
    }

    static void timed() {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += System.nanoTime();
        }
        sink = sum;
    }

    static void built() {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            b.append(i).append("needle in ");
        }
        sink = b.toString().indexOf("haystack");
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

    static void start(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        start("recursion", () -> loop(Stacks::recursion));
        start("random", () -> loop(Stacks::random));
        start("lambda", () -> loop(Stacks::lambda));
        start("megamorphic", () -> loop(Stacks::megamorphic));
        start("thrown", () -> loop(Stacks::thrown));
        start("sorted", () -> loop(Stacks::sorted));
        start("reflected", () -> loop(Stacks::reflected));
        start("format", () -> loop(Stacks::format));
        start("deflated", () -> loop(Stacks::deflated));
        start("allocated", () -> loop(Stacks::allocated));
        start("copied", () -> loop(Stacks::copied));
        start("read", () -> loop(Stacks::read));
        start("locked", () -> loop(Stacks::locked));
        start("locked too", () -> loop(Stacks::locked));
        start("timed", () -> loop(Stacks::timed));
        start("built", () -> loop(Stacks::built));
        System.out.println("READY");
        if (args.length > 0) {
            Thread.currentThread().join(); // forever
        }
        while (System.in.read() >= 0) {
        }
        ended = true;
    }
}
