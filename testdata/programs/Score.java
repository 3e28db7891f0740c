import java.util.Arrays;

/** Scores requests: score's own loop takes nearly all of the time, and a call of Arrays.mismatch follows that HotSpot inlines as well. */
public class Score {
    static int score(byte[] text, byte[] other) {
        int hash = 7;
        for (byte b : text) {
            hash = hash * 31 + (b ^ hash >>> 7);
        }
        return hash + Arrays.mismatch(text, other);
    }

    static int handle(byte[][] requests, byte[] other) {
        int sum = 0;
        for (byte[] request : requests) {
            sum += score(request, other);
        }
        return sum;
    }

    public static void main(String[] args) {
        byte[][] requests = new byte[200][3000];
        for (int i = 0; i < requests.length; i++) {
            Arrays.fill(requests[i], 0, i, (byte) i);
        }
        long end = System.nanoTime() + 1_000_000_000L * Integer.getInteger("sec", 3), sum = 0;
        System.out.println("READY");
        while (System.nanoTime() < end) {
            sum += handle(requests, requests[0]);
        }
        System.out.println(sum);
    }
}
