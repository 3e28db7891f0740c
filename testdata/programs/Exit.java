/**
 * Ends with a status of the caller's choice: {@code java Exit STATUS [echo] [ARG ...]}.
 *
 * <p>Prints each argument on a line of its own ("arg ..."), spins for -Dsec=0.3 seconds, copies stdin to stdout when one of the
 * arguments is "echo", and exits with STATUS.
 */
public class Exit {
    static int spin(int h) {
        for (int i = 0; i < 10_000; i++) {
            h = h * 31 + (h >>> 5);
        }
        return h;
    }

    public static void main(String[] args) throws java.io.IOException {
        int status = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        boolean echo = false;
        for (String arg : args) {
            System.out.println("arg " + arg);
            echo |= arg.equals("echo");
        }

        double sec = Double.parseDouble(System.getProperty("sec", "0.3"));
        int h = 1;
        long end = System.nanoTime() + (long) (sec * 1e9);
        while (System.nanoTime() - end < 0) {
            h = spin(h);
        }
        if (h == 42) { // keeps the loop from being thrown away
            System.out.println();
        }

        if (echo) {
            byte[] piece = new byte[4096];
            for (int n; (n = System.in.read(piece)) >= 0; ) {
                System.out.write(piece, 0, n);
            }
        }
        System.out.flush();
        System.exit(status);
    }
}
