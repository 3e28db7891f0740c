/** Sorts numbers for -Dsec=1 seconds. */
public class SortTest {
    static void sort(int[] numbers) {
        for (int i = 1; i < numbers.length; i++) {
            int number = numbers[i];
            int k = i;
            for (; k > 0 && numbers[k - 1] > number; k--) {
                numbers[k] = numbers[k - 1];
            }
            numbers[k] = number;
        }
    }

    public void testSort() {
        long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(System.getProperty("sec", "1")));
        while (System.nanoTime() - end < 0) {
            int[] numbers = new int[1000];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = i * 7919 % 1009;
            }
            sort(numbers);
            for (int i = 1; i < numbers.length; i++) {
                if (numbers[i - 1] > numbers[i]) {
                    throw new AssertionError("not sorted");
                }
            }
        }
    }
}
