import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Inlined has calls of which it knows what C2 makes: which are inlined, and why the others are not. It works for -Dsec
 * seconds of a processor, from the moment on at which Flight Recorder records.
 */
public class Inlined {
    interface Shape { int area(); }
    static final class Circle implements Shape { public int area() { return 3; } }
    static final class Square implements Shape { public int area() { return 4; } }
    static final class Triangle implements Shape { public int area() { return 5; } }

    abstract static class Animal { abstract int legs(); }
    static final class Cat extends Animal { int legs() { return 4; } }
    static final class Bird extends Animal { int legs() { return 2; } }

    /** It has few bytecodes, so it is inlined. */
    static int small(int x) { return x * 31 + 7; }

    /** It has more bytecodes than FreqInlineSize, 325, so it is not inlined although it is hot. */
    static int big(int x) {
        x = x * 31 + (x >>> 1) + (x ^ 1000);
        x = x * 32 + (x >>> 2) + (x ^ 1001);
        x = x * 33 + (x >>> 3) + (x ^ 1002);
        x = x * 34 + (x >>> 4) + (x ^ 1003);
        x = x * 35 + (x >>> 5) + (x ^ 1004);
        x = x * 36 + (x >>> 6) + (x ^ 1005);
        x = x * 37 + (x >>> 7) + (x ^ 1006);
        x = x * 38 + (x >>> 1) + (x ^ 1007);
        x = x * 39 + (x >>> 2) + (x ^ 1008);
        x = x * 40 + (x >>> 3) + (x ^ 1009);
        x = x * 41 + (x >>> 4) + (x ^ 1010);
        x = x * 42 + (x >>> 5) + (x ^ 1011);
        x = x * 43 + (x >>> 6) + (x ^ 1012);
        x = x * 44 + (x >>> 7) + (x ^ 1013);
        x = x * 45 + (x >>> 1) + (x ^ 1014);
        x = x * 46 + (x >>> 2) + (x ^ 1015);
        x = x * 47 + (x >>> 3) + (x ^ 1016);
        x = x * 48 + (x >>> 4) + (x ^ 1017);
        x = x * 49 + (x >>> 5) + (x ^ 1018);
        x = x * 50 + (x >>> 6) + (x ^ 1019);
        x = x * 51 + (x >>> 7) + (x ^ 1020);
        x = x * 52 + (x >>> 1) + (x ^ 1021);
        x = x * 53 + (x >>> 2) + (x ^ 1022);
        x = x * 54 + (x >>> 3) + (x ^ 1023);
        x = x * 55 + (x >>> 4) + (x ^ 1024);
        x = x * 56 + (x >>> 5) + (x ^ 1025);
        return x;
    }

    /** It calls itself more often than MaxRecursiveInlineLevel, 1. */
    static int recursive(int n) { return n <= 0 ? 1 : recursive(n - 1) + n; }

    /** All the calls that are known. */
    static int work(Shape[] shapes, Animal[] animals, Runtime runtime) {
        int sum = 0;
        for (int i = 0; i < shapes.length; i++) {
            sum += small(i);
            sum += big(i);
            sum += shapes[i].area(); // three classes
            sum += animals[i].legs(); // two classes
            sum += (int) runtime.freeMemory(); // a native method
            sum += recursive(i & 7);
        }
        return sum;
    }

    /** Waits until Flight Recorder records. Its classes are not in all JDKs that compile this. */
    static void awaitRecording() throws Exception {
        Class<?> recorder = Class.forName("jdk.jfr.FlightRecorder");
        while (!(Boolean) recorder.getMethod("isInitialized").invoke(null)) {
            Thread.sleep(20);
        }
        Object it = recorder.getMethod("getFlightRecorder").invoke(null);
        while (!running((java.util.List<?>) recorder.getMethod("getRecordings").invoke(it))) {
            Thread.sleep(20);
        }
    }

    static boolean running(java.util.List<?> recordings) throws Exception {
        for (Object recording : recordings) {
            if (recording.getClass().getMethod("getState").invoke(recording).toString().equals("RUNNING")) {
                return true;
            }
        }
        return false;
    }

    public static void main(String[] args) throws Exception {
        Shape[] shapes = new Shape[999];
        Animal[] animals = new Animal[shapes.length];
        for (int i = 0; i < shapes.length; i++) {
            shapes[i] = i % 3 == 0 ? new Circle() : i % 3 == 1 ? new Square() : new Triangle();
            animals[i] = i % 2 == 0 ? new Cat() : new Bird();
        }
        awaitRecording();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + 1_000_000_000L * Integer.getInteger("sec", 2);
        int sum = 0;
        while (threads.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 100; i++) {
                sum += work(shapes, animals, Runtime.getRuntime());
            }
        }
        System.out.println("sum " + sum);
    }
}
