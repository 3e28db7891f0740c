/** Spends its time in native code: in the JNI library whose path is its argument, and in libc, which that calls. */
public class Jni {
    static native int work(int rounds);

    public static void main(String[] args) {
        System.load(args[0]);
        long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000;
        int sum = 0;
        while (System.nanoTime() < end) {
            sum += work(20);
        }
        System.out.println(sum);
    }
}
