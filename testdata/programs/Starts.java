import java.io.IOException;

/**
 * Spins as Spin does, and starts the program that its arguments name, again and again: each time when the last one has
 * ended.
 */
public class Starts {
    public static void main(String[] args) throws InterruptedException {
        Thread starter = new Thread(() -> {
            try {
                while (true) {
                    new ProcessBuilder(args)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor();
                }
            } catch (IOException | InterruptedException e) {
                System.err.println(e);
            }
        });
        starter.setDaemon(true);
        starter.start();
        Spin.main(new String[0]);
    }
}
