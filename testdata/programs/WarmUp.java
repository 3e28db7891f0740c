import java.util.Map;
import java.util.TreeMap;

/**
 * Gives the compilers work until its end, and makes them compile some of it again: in each third of the run, a call that has
 * met one more class, and a branch that was not taken before.
 *
 * <pre>
 *   -Drounds=600    the length of the run
 * </pre>
 */
public class WarmUp {
    interface Shape {
        double area();
    }

    static class Circle implements Shape {
        final double r;

        Circle(double r) {
            this.r = r;
        }

        public double area() {
            return Math.PI * r * r;
        }
    }

    static class Square implements Shape {
        final double a;

        Square(double a) {
            this.a = a;
        }

        public double area() {
            return a * a;
        }
    }

    static class Triangle implements Shape {
        final double a;

        Triangle(double a) {
            this.a = a;
        }

        public double area() {
            return a * a / 2;
        }
    }

    static double sum(Shape[] shapes, int kinds) {
        double x = 0;
        for (Shape s : shapes) {
            x += s.area();
            if (kinds > 2 && x > 1e9) {
                x -= 1e9;
            }
        }
        return x;
    }

    static Shape shape(int kind, int size) {
        return kind == 0 ? new Circle(size) : kind == 1 ? new Square(size) : new Triangle(size);
    }

    static int words(String s) {
        return s.split(" ").length + s.toUpperCase().hashCode() % 3;
    }

    public static void main(String[] args) {
        int rounds = Integer.getInteger("rounds", 600);
        Map<String, Integer> counts = new TreeMap<>();
        Shape[] shapes = new Shape[1000];
        double x = 0;
        int words = 0;
        for (int round = 0; round < rounds; round++) {
            int kinds = 1 + 3 * round / rounds;
            for (int i = 0; i < shapes.length; i++) {
                shapes[i] = shape(i % kinds, i);
            }
            for (int i = 0; i < 20; i++) {
                x += sum(shapes, kinds);
            }
            for (int i = 0; i < 100; i++) {
                words += words("a b " + i);
                counts.merge("k" + i % 50, 1, Integer::sum);
            }
        }
        System.out.println(counts.size() + (x > 0 && words != 0 ? " done" : ""));
    }
}
