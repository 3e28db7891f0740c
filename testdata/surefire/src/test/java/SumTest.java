/** Adds numbers for -Dsec=1 seconds. */
public class SumTest {
    static double sum(double[] numbers) {
        double sum = 0;
        for (double number : numbers) {
            sum += number;
        }
        return sum;
    }

    public void testSum() {
        double[] numbers = new double[4096];
        java.util.Arrays.fill(numbers, 0.5);
        long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(System.getProperty("sec", "1")));
        while (System.nanoTime() - end < 0) {
            if (sum(numbers) != 2048) {
                throw new AssertionError("the sum is wrong");
            }
        }
    }
}
