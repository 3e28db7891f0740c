/**
 * Ends with a status of the caller's choice: {@code java Exit STATUS [echo] [ARG ...]}.
 *
 * <p>Prints each argument on a line of its own ("arg ..."), spins for 0.3 s, copies stdin to stdout when one of the
 * arguments is "echo", and exits with STATUS. With -Drounds=80000 it calls spin as often as that instead: on a busy machine
 * it has spent most of its time there, too.
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

        int rounds = Integer.getInteger("rounds", 0);
        int h = 1;
        for (int i = 0; i < rounds; i++) {
            h = spin(h);
        }
        long end = System.nanoTime() + 300_000_000L;
        while (rounds == 0 && System.nanoTime() - end < 0) {
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
