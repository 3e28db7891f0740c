/** The hot method has two callers that do nothing else, so that next to no sample is in them. It runs for some two seconds. */
public class Relay {
    static volatile long sink;

    static long work(int k) {
        long s = 1;
        for (int i = 0; i < 20000; i++) {
            s = s * 31 + (i ^ k);
        }
        return s;
    }

    static long inner(int k) {
        return work(k) + 1;
    }

    static long outer(int k) {
        return inner(k) ^ 3;
    }

    public static void main(String[] args) {
        for (int k = 0; k < 100_000; k++) {
            sink = outer(k);
        }
    }
}
