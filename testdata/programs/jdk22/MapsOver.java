import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Maps a file over the variables of the JVM that runs it, when a line comes, and so reads no variable of its own any more: the first
 * argument is the file, of which a megabyte is mapped. It is for JDK 22 and newer, as java MapsOver.java.
 */
public class MapsOver {
    static volatile double sink;

    static void spin() {
        for (;;) {
            for (int i = 1; i < 1000; i++) {
                sink += Math.cbrt(i);
            }
        }
    }

    static MethodHandle function(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor, options);
    }

    public static void main(String[] args) throws Throwable {
        long at = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            if (line.endsWith("/libjvm.so") && line.contains(" rw-p ")) {
                at = Long.parseLong(line.substring(0, line.indexOf('-')), 16);
            }
        }
        MethodHandle open = function("open", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2));
        MethodHandle mmap = function("mmap", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
        int file = (int) open.invokeExact(Arena.global().allocateFrom(args[0]), 0);
        Thread thread = new Thread(MapsOver::spin);
        thread.setDaemon(true);
        thread.start();
        System.out.println("READY");
        System.in.read();
        long mapped = (long) mmap.invokeExact(at, 1L << 20, 3, 0x12, file, 0L); // MAP_PRIVATE|MAP_FIXED
        System.out.println(mapped);
    }
}
