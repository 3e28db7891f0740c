/**
 * Profiled runs code whose profile is known: which classes its calls and type checks see, and how often its branches are
 * taken. Each method says its shares. It prints a line when all of them have run often enough to be compiled by C2, and
 * goes on until its input ends or, with -Dforever=true, until it is killed.
 */
public class Profiled {
    interface Shape { int area(); }
    static final class Circle implements Shape { public int area() { return 3; } }
    static final class Square implements Shape { public int area() { return 4; } }
    static final class Triangle implements Shape { public int area() { return 5; } }

    abstract static class Animal { abstract int legs(); }
    static final class Cat extends Animal { int legs() { return 4; } }
    static final class Bird extends Animal { int legs() { return 2; } }
    static final class Fish extends Animal { int legs() { return 0; } }

    /** An interface call: 50 % Circle, 30 % Square, 20 % Triangle. */
    static int three(Shape[] shapes) {
        int sum = 0;
        for (int i = 0; i < shapes.length; i++) {
            sum += shapes[i].area();
        }
        return sum;
    }

    /** A virtual call: 75 % Cat, 25 % Bird. */
    static int two(Animal[] animals) {
        int sum = 0;
        for (int i = 0; i < animals.length; i++) {
            sum += animals[i].legs();
        }
        return sum;
    }

    /** A virtual call: all are Fish. */
    static int one(Animal[] animals) {
        int sum = 0;
        for (int i = 0; i < animals.length; i++) {
            sum += animals[i].legs();
        }
        return sum;
    }

    /** A branch that is taken for 90 % of the numbers: those that are not 0. */
    static int branch(int[] numbers) {
        int sum = 0;
        for (int i = 0; i < numbers.length; i++) {
            if (numbers[i] == 0) {
                sum += i;
            } else {
                sum ^= i;
            }
        }
        return sum;
    }

    /** An instanceof: 60 % Circle, which pass, 40 % Square, which do not. */
    static int instance(Object[] objects) {
        int sum = 0;
        for (int i = 0; i < objects.length; i++) {
            if (objects[i] instanceof Circle) {
                sum++;
            }
        }
        return sum;
    }

    /** A checkcast to an interface: 80 % Circle, 20 % Triangle. */
    static int cast(Object[] objects) {
        int sum = 0;
        for (int i = 0; i < objects.length; i++) {
            Shape shape = (Shape) objects[i];
            sum += shape == null ? 1 : 2;
        }
        return sum;
    }

    /** An aastore: 75 % Square, 25 % Circle. */
    static void store(Object[] objects, Object[] into) {
        for (int i = 0; i < objects.length; i++) {
            into[i] = objects[i];
        }
    }

    public static void main(String[] args) throws Exception {
        Shape circle = new Circle(), square = new Square(), triangle = new Triangle();
        Shape[] shapes = {circle, square, triangle, circle, square, circle, circle, triangle, square, circle};
        Animal cat = new Cat(), bird = new Bird(), fish = new Fish();
        Animal[] animals = {cat, cat, bird, cat, cat, bird, cat, cat}, fishes = {fish, fish, fish};
        int[] numbers = {1, 2, 3, 0, 5, 6, 7, 8, 9, 10};
        Object[] instances = {circle, square, circle, square, circle};
        Object[] casts = {circle, circle, triangle, circle, circle};
        Object[] stored = {square, circle, square, square}, into = new Shape[4];
        Thread ender = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {}
            } catch (java.io.IOException e) {
                // then the program ends, too
            }
            System.exit(0);
        });
        if (!Boolean.getBoolean("forever")) {
            ender.start();
        }
        int sum = 0;
        for (int round = 0; true; round++) {
            for (int i = 0; i < 2000; i++) {
                sum += three(shapes) + two(animals) + one(fishes) + branch(numbers) + instance(instances) + cast(casts);
                store(stored, into);
            }
            if (round == 200) {
                System.out.println("warm " + sum);
            }
        }
    }
}
