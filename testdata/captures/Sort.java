import java.util.Arrays;
import java.util.SplittableRandom;

/** Sort sorts numbers, which HotSpot leaves to a library of its own where the processor has AVX-512. */
public class Sort {
    public static void main(String[] args) {
        int[] from = new SplittableRandom(1).ints(100_000).toArray();
        long end = System.nanoTime() + Integer.getInteger("sec", 3) * 1_000_000_000L;
        long sum = 0;
        while (System.nanoTime() < end) {
            int[] numbers = from.clone();
            Arrays.sort(numbers);
            for (int i = 1; i < numbers.length; i++) sum += Integer.bitCount(numbers[i] - numbers[i - 1]);
        }
        System.out.println(sum);
    }
}
