/**
 * Is in step with a sampler: it is in alpha for the first half of each period of the clock, and in beta for the second.
 * A sampler with the same period meets it always in the same half.
 *
 * <pre>
 *   -Dhertz=501    the number of periods in a second
 *   -Dsec=60       length of the run, seconds
 * </pre>
 *
 * <p>It prints READY when both methods are compiled. A call lasts some microseconds, so that reading the clock is noise.
 * Both methods do the same work, and what each of them takes is therefore its share of the calls, whatever else the
 * machine does: about a half.
 */
public class Lockstep {
    static final int STEPS = 2000;

    static double alpha(double x) {
        for (int i = 0; i < STEPS; i++) {
            x = x * 0.999 + 1.5;
        }
        return x;
    }

    static double beta(double x) {
        for (int i = 0; i < STEPS; i++) {
            x = x * 0.998 + 2.5;
        }
        return x;
    }

    public static void main(String[] args) {
        double period = 1e9 / Integer.getInteger("hertz", 501);
        double x = 1;
        for (int i = 0; i < 50_000; i++) {
            x = beta(alpha(x));
        }
        System.out.println("READY");
        long start = System.nanoTime();
        long length = Integer.getInteger("sec", 60) * 1_000_000_000L;
        long alphas = 0;
        long calls = 0;
        for (long now = 0; now < length; now = System.nanoTime() - start) {
            if (now % period < period / 2) {
                x = alpha(x);
                alphas++;
            } else {
                x = beta(x);
            }
            calls++;
        }
        System.out.printf(java.util.Locale.ROOT, "alpha %.4f %.1f%n", (double) alphas / calls, x);
    }
}
