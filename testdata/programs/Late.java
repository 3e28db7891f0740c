/**
 * Does nothing until a line comes on stdin, and is busy in one method then: for tests of what is compiled after gasm has
 * attached.
 *
 * <p>Prints "READY pid", and ends by itself -Dsec=3 seconds after the line.
 */
public class Late {
    static double work(int[] a, int n) {
        double x = 1;
        for (int i = 0; i < n; i++) {
            x = Math.sqrt(x + a[i & 1023] / (x + 1.5));
            if ((i & 7) == 3) {
                x += a[(i * 31) & 1023];
            }
        }
        return x;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY " + ProcessHandle.current().pid());
        System.out.flush();
        System.in.read();
        int[] a = new int[1024];
        for (int i = 0; i < a.length; i++) {
            a[i] = i * 7;
        }
        double sum = 0;
        long end = System.nanoTime() + (long) (Double.parseDouble(System.getProperty("sec", "3")) * 1e9);
        while (System.nanoTime() - end < 0) {
            sum += work(a, 20_000);
        }
        System.out.println("sum " + sum);
    }
}
