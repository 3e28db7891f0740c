/** Makes some of the JVM's own events, under JDK 8, too, whose compiler does not know JFR's classes. */
public class Plain {
    static volatile Object sink;

    public static void main(String[] args) throws Exception {
        Object lock = new Object();
        Thread holder = new Thread(() -> {
            for (int i = 0; i < 20; i++) {
                synchronized (lock) {
                    sink = new byte[1 << 20];
                }
            }
        }, "Fäden");
        holder.start();
        for (int i = 0; i < 20; i++) {
            synchronized (lock) {
                Thread.sleep(2);
            }
        }
        holder.join();
        System.gc();
        Thread.sleep(25);
    }
}
