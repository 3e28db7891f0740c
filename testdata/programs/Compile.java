import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/**
 * Keeps HotSpot's compilers busy from start to end, so that the cost of a capture during warm-up shows: javac in memory
 * over generated classes of many shapes.
 *
 * <pre>
 *   -Dclasses=200    how many classes are generated and compiled
 *   -Dresult=FILE    the line of the result goes to this file as well
 * </pre>
 *
 * <p>It prints its seconds since the JVM began and a checksum of the class files, which is the same in every run of one
 * JDK.
 */
public class Compile {
    /** Classes of one package, which javac gets at once. */
    static final int PACKAGE = 50;

    /** Members of the generated classes. K is a constant, U the class itself, P another class of its package. */
    static final String[] SHAPES = {
        """
        static final class Tree<A extends Comparable<? super A>, B> implements Iterable<A> {
            private Tree<A, B> left, right;
            private final A key;
            private B value;
            Tree(A key, B value) { this.key = key; this.value = value; }
            <C extends B> Tree<A, B> put(A k, C v) {
                int order = k.compareTo(key);
                if (order == 0) { value = v; return this; }
                Tree<A, B> next = order < 0 ? left : right;
                if (next != null) { return next.put(k, v); }
                next = new Tree<>(k, v);
                if (order < 0) { left = next; } else { right = next; }
                return next;
            }
            void walk(BiConsumer<? super A, ? super B> to) {
                if (left != null) { left.walk(to); }
                to.accept(key, value);
                if (right != null) { right.walk(to); }
            }
            @Override public Iterator<A> iterator() {
                List<A> keys = new ArrayList<>();
                walk((k, v) -> keys.add(k));
                return keys.iterator();
            }
        }
        static int tree(int n) {
            var root = new Tree<Integer, CharSequence>(n * K, "root");
            for (int i = 0; i < n; i++) { root.put((i * K) ^ n, "at " + i + ':' + (i % 7)); }
            int h = 0;
            for (int k : root) { h = h * 31 + k; }
            return h;
        }
        """,
        """
        static Map<String, List<Integer>> streams(Collection<? extends Number> in, String prefix) {
            Function<Integer, String> name = x -> prefix + (x % K) + "/" + U.class.getSimpleName();
            return in.stream().map(Number::intValue).filter(x -> x > K).sorted(Comparator.comparing((Integer x) -> -x)
                    .thenComparing(Integer::toHexString)).collect(Collectors.groupingBy(name, TreeMap::new,
                    Collectors.mapping(x -> x + K, Collectors.toList())));
        }
        static double sums(int n) {
            Supplier<IntStream> all = () -> IntStream.rangeClosed(K, K + n);
            long odd = all.get().filter(i -> (i & 1) == 1).mapToLong(i -> (long) i * i).reduce(0L, Long::sum);
            return all.get().boxed().flatMap(i -> Stream.of(i, i + 1, i * K)).mapToDouble(Integer::doubleValue).sum() / (odd + 1);
        }
        """,
        """
        sealed interface Shape permits Circle, Box, Many { default double weight() { return K * area(this); } }
        record Circle(double radius) implements Shape {
            Circle { if (radius < 0) { throw new IllegalArgumentException("radius " + radius + " of U"); } }
        }
        record Box(double width, double height) implements Shape { }
        record Many(List<? extends Shape> parts, String label) implements Shape { }
        static double area(Shape s) {
            if (s instanceof Circle c && c.radius() > 0) { return Math.PI * c.radius() * c.radius(); }
            if (s instanceof Box b) { return b.width() * b.height(); }
            if (!(s instanceof Many m)) { return 0; }
            double sum = 0;
            for (Shape part : m.parts()) { sum += part.weight() / K; }
            return sum;
        }
        """,
        """
        enum Op {
            ADD("+") { long apply(long a, long b) { return a + b; } },
            MUL("*") { long apply(long a, long b) { return a * b + K; } },
            XOR("^") { long apply(long a, long b) { return a ^ b >>> 3; } };
            final String sign;
            Op(String sign) { this.sign = sign; }
            abstract long apply(long a, long b);
        }
        static long ops(String program, long start) {
            long at = start;
            for (char c : program.toCharArray()) {
                Op op = switch (c) {
                    case '+', 'a', 'A' -> Op.ADD;
                    case '*' -> Op.MUL;
                    default -> {
                        if (c > 'K' + K % 5) { yield Op.XOR; }
                        yield Op.values()[c % Op.values().length];
                    }
                };
                at = op.apply(at, switch (op.sign) { case "+" -> 1; case "*" -> K; default -> at >> 2; });
            }
            return at;
        }
        """,
        """
        private int counter = K;
        class Cursor implements AutoCloseable, Comparable<Cursor> {
            private final int id = ++counter;
            class Mark { int at() { return id * 31 + counter; } }
            int read(int n) throws java.io.IOException {
                if (n > K) { throw new java.io.IOException("too far: " + n + " > " + K + " in " + id); }
                return new Mark().at() + n;
            }
            @Override public int compareTo(Cursor o) { return Integer.compare(id, o.id); }
            @Override public void close() { counter--; }
        }
        int cursors(int... lengths) {
            int sum = 0;
            for (int n : lengths) {
                try (Cursor a = new Cursor(); var b = new Cursor()) {
                    sum += a.read(n) - b.read(n / 2) + a.compareTo(b);
                } catch (java.io.IOException | IllegalStateException e) {
                    sum -= e.getMessage().length();
                } finally {
                    sum ^= counter << 1;
                }
            }
            return sum;
        }
        """,
        """
        static String text(Map<String, ? extends Object> values, int depth) {
            StringBuilder s = new StringBuilder("U{");
            String line = "";
            for (Map.Entry<String, ? extends Object> e : values.entrySet()) {
                line = e.getKey() + " = " + e.getValue() + (depth > K ? ";" : ", ") + depth + '\\n';
                line += 1L * depth + 2.5f * K + "x" + (char) ('a' + depth % 26);
                s.append(line).append(line.isEmpty() ? "none" : line.substring(line.length() / 2));
            }
            assert s.length() > 1 : "short: " + s;
            return depth <= 0 ? s + "}" : text(new HashMap<>(values), depth - 1).concat(line);
        }
        """,
        """
        static int[][] matrix(int n) {
            int[][] m = new int[n][n + K % 3];
            outer:
            for (int i = 0; i < n; i++) {
                for (int j = m[i].length - 1; j >= 0; j--) {
                    if ((i ^ j) == K) { continue outer; }
                    m[i][j] += i * K + (j > 0 ? m[i][j] : -j) * 0x9E37;
                    m[i][j] >>>= j & 7;
                    do { m[i][j]--; } while (m[i][j] > K * 1000);
                    if (m[i][j] == Integer.MIN_VALUE) { break outer; }
                }
            }
            return m;
        }
        static long mix(byte a, short b, char c, long d, float e, double f, boolean g) {
            long h = a + b * c;
            h ^= (long) (e * f) | (g ? d : ~d);
            h += (int) (h >>> 32) % (K + 1);
            switch ((int) h & 7) {
                case 0: h++;
                case 1: case 2: h *= 3; break;
                case 5: return h - K;
                default: h = -h;
            }
            return h;
        }
        """,
        """
        static Comparator<List<String>> order(boolean down) {
            class Longest implements Comparator<List<String>> {
                int longest(List<String> l) { return l.stream().mapToInt(String::length).max().orElseGet(() -> K); }
                @Override public int compare(List<String> a, List<String> b) {
                    return down ? longest(b) - longest(a) : longest(a) - longest(b);
                }
            }
            Comparator<List<String>> bySize = new Comparator<>() {
                int calls;
                @Override public int compare(List<String> a, List<String> b) { return a.size() - b.size() + 0 * calls++; }
            };
            return bySize.thenComparing(new Longest()).reversed();
        }
        static <T, R> Optional<R> twice(T in, Function<? super T, ? extends T> step, Function<? super T, R> last) {
            return Optional.ofNullable(in).map(step::apply).<T>map(step::apply).filter(x -> !x.equals(in)).map(last);
        }
        static int twices(String s) {
            return twice(s, x -> x + K, String::length).or(() -> Optional.of(K)).get() + twice(K, x -> x * x, x -> x % 10).orElse(0)
                    + P.SALT + P.salted(s.length());
        }
        """,
    };

    /** Class i of a package: some three quarters of the shapes, others in each. */
    static String source(String pack, int i) {
        StringBuilder s = new StringBuilder("package " + pack + ";\nimport java.util.*;\nimport java.util.function.*;\n"
                + "import java.util.stream.*;\n/** Made. */\npublic class U {\nstatic final int SALT = K;\n"
                + "static int salted(int n) { return n ^ SALT; }\n");
        int random = i * 0x9E3779B9;
        for (int shape = 0; shape < SHAPES.length; shape++) {
            random ^= random << 13;
            random ^= random >>> 17;
            random ^= random << 5;
            if ((random >>> 8 & 3) != 0) {
                s.append(SHAPES[shape].replaceAll("\\bK\\b(?!')", Integer.toString((random >>> 12) % 50_000)));
            }
        }
        return s.append("}\n").toString().replaceAll("\\bK\\b(?!')", Integer.toString(i)).replaceAll("\\bU\\b", "Made" + i)
                .replaceAll("\\bP\\b", "Made" + (i % PACKAGE == 0 ? i : i - 1));
    }

    /** Compiles the classes from first on, up to end or to the end of the package. */
    static void compile(JavaCompiler javac, int first, int end, CRC32 sum) throws IOException {
        String pack = "made" + first / PACKAGE;
        List<MemoryFile> sources = new ArrayList<>();
        for (int i = first; i < Math.min(end, first + PACKAGE); i++) {
            sources.add(new MemoryFile(pack + ".Made" + i, JavaFileObject.Kind.SOURCE, source(pack, i)));
        }
        try (MemoryFiles files = new MemoryFiles(javac.getStandardFileManager(null, null, null))) {
            if (!javac.getTask(null, files, null, List.of("-proc:none", "-g"), null, sources).call()) {
                throw new IllegalStateException("javac failed");
            }
            files.classes.values().forEach(f -> sum.update(f.bytes.toByteArray()));
        }
    }

    public static void main(String[] args) throws Exception {
        int classes = Integer.getInteger("classes", 200);
        CRC32 sum = new CRC32();
        for (int i = 0; i < classes; i += PACKAGE) {
            compile(ToolProvider.getSystemJavaCompiler(), i, classes, sum);
        }
        // Not since getStartTime(), which is when the JVM had started: it has printed its interpreter and stubs by then.
        double seconds = ManagementFactory.getRuntimeMXBean().getUptime() / 1e3;
        String result = String.format(Locale.ROOT, "classes %d seconds %.3f checksum %08x", classes, seconds, sum.getValue());
        System.out.println(result);
        String file = System.getProperty("result");
        if (file != null) {
            Files.writeString(Path.of(file), result + "\n");
        }
    }
}
