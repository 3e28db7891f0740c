import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/**
 * Fills the code cache again and again, so that HotSpot has to use its addresses more than once.
 *
 * <p>Runs javac in memory over generated classes, -Dsec=15 seconds long and until it has used -Dcpu=0 seconds of CPU time,
 * and what it compiled: javac alone needs more than a small code cache has, and the generated methods die with their class
 * loader. Run it with -XX:ReservedCodeCacheSize=4m.
 */
public class Churn {
    static final class MemoryLoader extends ClassLoader {
        final Map<String, MemoryFile> classes;

        MemoryLoader(Map<String, MemoryFile> classes) {
            this.classes = classes;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            MemoryFile file = classes.get(name);
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] code = file.bytes.toByteArray();
            return defineClass(name, code, 0, code.length);
        }
    }

    static final int CLASSES = 8;
    static final int METHODS = 4;

    /** Classes with methods of different sizes, each with code of its own. */
    static String source(int round) {
        StringBuilder s = new StringBuilder();
        for (int c = 0; c < CLASSES; c++) {
            s.append("class Made%d_%d implements java.util.function.IntUnaryOperator {\n".formatted(round, c));
            StringBuilder calls = new StringBuilder();
            for (int m = 0; m < METHODS; m++) {
                s.append("""
                        int step%1$d(int n) {
                            int[] a = new int[64 + %1$d];
                            long h = n;
                            for (int i = 0; i < n; i++) {
                                a[i %% a.length] += i * %2$d + (a[(i + 7) %% a.length] >>> %1$d);
                                h ^= h << %1$d | i;
                            }
                        """.formatted(m, 3 + (round * CLASSES + c + m) % 97));
                for (int more = 0; more < m % 4; more++) {
                    s.append("for (int x : a) { h = h * %d + Integer.rotateLeft(x, %d); }\n".formatted(31 + more, m + more));
                }
                s.append("return (int) h; }\n");
                calls.append("h = h * 31 + step").append(m).append("(n);\n");
            }
            s.append("public int applyAsInt(int n) { int h = 0;\n").append(calls).append("return h; } }\n");
        }
        return s.toString();
    }

    /** Calls a program for so long that HotSpot compiles it. */
    static int run(IntUnaryOperator program, double sec) {
        int h = 0;
        long end = System.nanoTime() + (long) (sec * 1e9);
        while (System.nanoTime() - end < 0) {
            h += program.applyAsInt(500);
        }
        return h;
    }

    static int round(JavaCompiler javac, int round) throws Exception {
        try (MemoryFiles files = new MemoryFiles(javac.getStandardFileManager(null, null, null))) {
            MemoryFile source = new MemoryFile("Made" + round, JavaFileObject.Kind.SOURCE, source(round));
            if (!javac.getTask(null, files, null, List.of("-proc:none"), null, List.of(source)).call()) {
                throw new IllegalStateException("javac failed");
            }
            int h = 0;
            for (int c = 0; c < CLASSES; c++) {
                Class<?> made = new MemoryLoader(files.classes).loadClass("Made" + round + "_" + c);
                var constructor = made.getDeclaredConstructor();
                constructor.setAccessible(true);
                h += run((IntUnaryOperator) constructor.newInstance(), 0.4);
            }
            return h;
        }
    }

    /** The CPU time of this process, the JIT compilers' included. */
    static double cpuSeconds() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }

    public static void main(String[] args) throws Exception {
        double cpu = Double.parseDouble(System.getProperty("cpu", "0"));
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        long end = System.nanoTime() + (long) (Double.parseDouble(System.getProperty("sec", "15")) * 1e9);
        int rounds = 0;
        int h = 0;
        while (System.nanoTime() - end < 0 || cpuSeconds() < cpu) {
            h += round(javac, rounds++);
        }
        System.out.println("rounds " + rounds + " sink " + h);
    }
}
