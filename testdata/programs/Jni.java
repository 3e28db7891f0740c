/**
 * Spends its time in native code: in the JNI library whose path is its argument, and in libc, which that calls, until it has
 * used the CPU time of its second argument, in milliseconds.
 */
public class Jni {
    static native int work(int rounds);

    /** The CPU time of this process, the JIT compilers' included. */
    static long cpuMillis() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
    }

    public static void main(String[] args) {
        System.load(args[0]);
        long end = cpuMillis() + Long.parseLong(args[1]);
        int sum = 0;
        while (cpuMillis() < end) {
            sum += work(20);
        }
        System.out.println(sum);
    }
}
