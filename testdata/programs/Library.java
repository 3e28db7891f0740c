import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Uses much of the class library for -Dsec=5 seconds, and until it has used -Dcpu=0 seconds of CPU time, so that
 * HotSpot compiles many different methods: loops that are entered in the middle, locks, exceptions, lambdas, native
 * methods, arithmetic of all types. Runs on JDK 11 and newer.
 */
public class Library {
    static final Pattern WORD = Pattern.compile("([a-z]+)(\\d*)", Pattern.CASE_INSENSITIVE);
    static double sink;

    static int words(String text) {
        var matcher = WORD.matcher(text);
        int n = 0;
        while (matcher.find()) {
            n += matcher.group(1).length() + matcher.group(2).hashCode() % 7;
        }
        return n;
    }

    static synchronized double floats(int n) {
        double sum = 0;
        float f = 1.5f;
        for (int i = 1; i < n; i++) {
            sum += Math.sqrt(i) / (f + i) - (i % 3 == 0 ? Math.floor(sum) : -f);
            f = -f * 0.5f + i;
        }
        return sum;
    }

    /** Names beyond ASCII, which HotSpot writes in more than one way. */
    static final class Size {
        int wert日本 = 3;

        int mal_µ(int n) {
            return n * wert日本 + (n >> 1);
        }
    }

    static final Size SIZE = new Size();

    static int names(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += SIZE.mal_µ(i);
        }
        return sum;
    }

    static int exceptions(int n) {
        int caught = 0;
        int[] array = new int[4];
        for (int i = 0; i < n; i++) {
            try {
                array[i % 6]++;
            } catch (ArrayIndexOutOfBoundsException e) {
                caught++;
            }
        }
        return caught;
    }

    static int round(int seed) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            names.add(String.format("name%d-%x", i * seed % 97, i));
        }
        names.sort(Comparator.comparing(String::length).thenComparing(Comparator.reverseOrder()));
        Map<Integer, List<String>> byLength = names.stream().collect(Collectors.groupingBy(String::length, TreeMap::new, Collectors.toList()));
        Map<String, Integer> counts = new HashMap<>();
        for (String name : names) {
            counts.merge(name.substring(0, 5), words(name), Integer::sum);
        }
        BigInteger product = IntStream.range(1, 60).mapToObj(BigInteger::valueOf).reduce(BigInteger.ONE, BigInteger::multiply);
        long shifts = product.longValue() >>> (seed & 31) ^ System.nanoTime() << 3;
        sink += floats(seed % 1000);
        return byLength.size() + counts.hashCode() + product.bitLength() + exceptions(50) + names(500) + (int) (shifts % 5);
    }

    /** The CPU time of this process, the JIT compilers' included. */
    static double cpuSeconds() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + (long) (Double.parseDouble(System.getProperty("sec", "5")) * 1e9);
        double cpu = Double.parseDouble(System.getProperty("cpu", "0"));
        int seed = 1;
        for (int sum = 0; System.nanoTime() < end || cpuSeconds() < cpu; sum += round(seed++)) {
            if (sum == -1) {
                System.out.println(sum);
            }
        }
        System.out.println(seed > 10 && sink != 0 ? "done" : "slow");
    }
}
