import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Runs a hot method whose class, whose field, which itself and whose thread have names that javac refuses: with
 * escape sequences for a terminal, with characters that turn text around, with blanks and ends of lines.
 *
 * <p>The class is compiled with other names, and its names are replaced when it is loaded. It runs for -Dsec=3
 * seconds.
 */
public class Letters {
    /** Is loaded as "Ev\u009b31mil\u001bc\u202e\u2764\ud83d\ude00<>&'x". */
    public static class Evil implements Runnable {
        static double sink;
        double theField;

        @Override
        public void run() {
            long end = System.nanoTime() + (long) (Double.parseDouble(System.getProperty("sec", "3")) * 1e9);
            while (System.nanoTime() - end < 0) {
                sink += theMethod(2000);
            }
        }

        double theMethod(int n) {
            double sum = 0;
            for (int i = 0; i < n; i++) {
                sum += größe(i) * theBlank(i);
                theField += sum;
            }
            return sum;
        }

        static double größe(int i) {
            return i % 7 == 0 ? i / 3.0 : i;
        }

        static double theBlank(int i) {
            return Math.sqrt(i + 1);
        }
    }

    private static class Loader extends ClassLoader {
        Class<?> define(byte[] code) {
            return defineClass(null, code, 0, code.length);
        }
    }

    /** The bytes of a name in a class file: its length, and modified UTF-8. */
    private static String constant(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new DataOutputStream(bytes).writeUTF(name);
        return new String(bytes.toByteArray(), StandardCharsets.ISO_8859_1);
    }

    public static void main(String[] args) throws Exception {
        String evil = "Ev\u009b31mil\u001bc\u202e\u2764\ud83d\ude00<>&'x";
        String[][] names = {
            {"Letters$Evil", evil}, {"LLetters$Evil;", "L" + evil + ";"}, {"theField", "f\u00e4\n"}, {"theBlank", "a b"},
            {"theMethod", "m\u001b]0:x\u0007\u00a0 \n\ud83d\ude00\u202e'\"&\ud800z"},
        };
        String code;
        try (InputStream in = Letters.class.getResourceAsStream("Letters$Evil.class")) {
            code = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
        for (String[] name : names) {
            code = code.replace(constant(name[0]), constant(name[1]));
        }
        Class<?> evilClass = new Loader().define(code.getBytes(StandardCharsets.ISO_8859_1));
        for (String name : new String[] {"\u001b]0;pwn\u0007\u202e!", "two\nlines"}) {
            new Thread((Runnable) evilClass.getDeclaredConstructor().newInstance(), name).start();
        }
    }
}
