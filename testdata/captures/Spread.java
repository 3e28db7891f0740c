import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Spread does many small things in turn, so that no region of its code is hot. Its streams make long inlining chains. */
public class Spread {
    static final Pattern WORD = Pattern.compile("([a-z]+)-(\\d+)");

    record Item(String name, int weight, double price) {}

    static double streams(List<Item> items) {
        return items.stream().filter(i -> i.weight() % 3 != 0).map(Item::price).filter(p -> p > 0.2)
            .mapToDouble(p -> p * 1.19).filter(p -> p < 1.1).sum();
    }

    static long squares(int n) {
        return IntStream.range(0, n).filter(i -> (i & 5) != 1).mapToLong(i -> (long) i * i).map(x -> x ^ x >>> 7).sum();
    }

    static Map<String, Integer> groups(List<Item> items) {
        return items.stream().collect(Collectors.groupingBy(i -> i.name().substring(0, 1), TreeMap::new, Collectors.summingInt(Item::weight)));
    }

    static int matches(List<Item> items) {
        int n = 0;
        for (Item i : items) {
            var m = WORD.matcher(i.name());
            if (m.matches()) n += m.group(2).length();
        }
        return n;
    }

    static int counts(List<Item> items, Map<String, Integer> counts) {
        counts.clear();
        for (Item i : items) counts.merge(i.name(), i.weight(), Integer::sum);
        int sum = 0;
        for (var e : counts.entrySet()) sum += e.getKey().length() * e.getValue();
        return sum;
    }

    static BigInteger power(BigInteger b) { return b.modPow(BigInteger.valueOf(65537), BigInteger.ONE.shiftLeft(521).subtract(BigInteger.ONE)); }

    static int text(List<Item> items) {
        StringBuilder b = new StringBuilder();
        for (Item i : items) b.append(i.name()).append('=').append(i.weight()).append(';');
        return b.toString().hashCode();
    }

    static String last(List<Item> items) {
        List<Item> sorted = new ArrayList<>(items);
        sorted.sort(Comparator.comparing(Item::name).thenComparingInt(Item::weight));
        return sorted.get(sorted.size() - 1).name();
    }

    public static void main(String[] args) {
        Random random = new Random(1);
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < 400; i++) items.add(new Item("" + (char) ('a' + random.nextInt(26)) + "x-" + random.nextInt(99), random.nextInt(50), random.nextDouble()));
        long end = System.nanoTime() + Integer.getInteger("sec", 4) * 1_000_000_000L;
        Map<String, Integer> counts = new HashMap<>();
        BigInteger b = new BigInteger(520, random);
        double sum = 0;
        while (System.nanoTime() < end) {
            for (int k = 0; k < 4; k++) sum += streams(items) + squares(1000) + matches(items) + counts(items, counts);
            sum += text(items) + groups(items).size() + last(items).length();
            b = power(b);
        }
        System.out.println(sum + b.intValue());
    }
}
