import java.util.SplittableRandom;

/** Huge has a method into which HotSpot inlines hundreds of calls, so that it has thousands of instructions. */
public class Huge {
    static final int[] TABLE = new SplittableRandom(1).ints(1 << 12).toArray();

    static int mix(int a, int b) { return (a ^ b) * 0x9E3779B1 + (a << 5 ^ b >>> 3); }

    static int mix4(int a, int b) { return mix(mix(a, b), mix(b + 1, a)) ^ mix(a - b, mix(b, 7)); }

    static int mix20(int a, int b) { return mix4(mix4(a, b), mix4(b, 3)) + mix4(a ^ 5, mix4(b, a)); }

    static int look(int a) { return TABLE[a & TABLE.length - 1]; }

    static int huge(int a, int b) {
        b += look(a);
        a += mix20(a, b);
        b ^= mix20(b, a);
        a += mix20(a, 3);
        b ^= mix20(b, 5);
        a += mix20(a, 11);
        b ^= mix20(b, 13);
        a += mix20(a, 17);
        b += a / (b | 1);
        return a ^ mix20(b, 19);
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + Integer.getInteger("sec", 4) * 1_000_000_000L;
        int x = 1;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1000; i++) x = huge(x, i);
        }
        System.out.println(x);
    }
}
