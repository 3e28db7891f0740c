/**
 * Accessors has a loop that calls a getter and a setter of the same field, and a getter of another one, until it is killed.
 */
public class Accessors {
    static abstract class Base { abstract int get(); int other() { return 1; } }
    static final class Point extends Base {
        int a, b, value;
        int get() { return value; }
        void set(int v) { value = v; }
        int other() { return a; }
    }
    static int through(Point p) { return p.get(); }
    static int hot(Point p, int[] numbers) {
        int sum = 0;
        for (int i = 0; i < numbers.length; i++) {
            p.set(numbers[i]);
            sum += through(p) + p.other();
        }
        return sum;
    }
    public static void main(String[] args) {
        Point p = new Point();
        int[] numbers = new int[1000];
        for (int sum = 0;; sum += hot(p, numbers)) { }
    }
}
