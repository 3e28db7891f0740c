import java.io.File;
import java.io.IOException;

/**
 * Allocates the number of megabytes that its first argument says, and prints on stdout and stderr. With "attached" as
 * the second argument it does so only after somebody has attached to its JVM, and collects garbage then. With "resting"
 * it rests before the last 20 of them. With a command from the second argument on, it runs that instead.
 */
public class Fills {
    private static Object sink;

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length > 2) {
            ProcessBuilder command = new ProcessBuilder(java.util.Arrays.copyOfRange(args, 1, args.length));
            System.exit(command.inheritIO().start().waitFor());
        }
        String how = args.length == 2 ? args[1] : "";
        boolean attached = how.equals("attached");
        if (attached) {
            awaitAttached();
        }
        System.out.println("fills " + args[0] + " MB");
        int last = how.equals("resting") ? 20 : 0;
        fill(Integer.parseInt(args[0]) - last);
        if (last > 0) {
            Thread.sleep(2000);
            fill(last);
        }
        if (attached) {
            System.gc();
        }
        System.err.println("filled");
    }

    /** Allocates in pieces of 10,000 bytes: an array of this length has 16 bytes more. */
    private static void fill(int megabytes) throws InterruptedException {
        for (int i = 0; i < megabytes; i++) {
            for (int k = 0; k < 100; k++) {
                sink = new byte[10_000 - 16];
            }
            Thread.sleep(1);
        }
    }

    /** Waits for the JVM's attach socket, and then for the commands that come first. */
    private static void awaitAttached() throws InterruptedException {
        File socket = new File("/tmp/.java_pid" + ProcessHandle.current().pid());
        for (int i = 0; i < 6000 && !socket.exists(); i++) {
            Thread.sleep(10);
        }
        Thread.sleep(300);
    }
}
