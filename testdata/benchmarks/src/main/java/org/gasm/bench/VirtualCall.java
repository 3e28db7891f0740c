package org.gasm.bench;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * A call with four receiver classes in random order: too many for C2 to inline, so every element goes through a
 * vtable call, and the time lies in several small nmethods with calls between them.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class VirtualCall {
    abstract static class Shape {
        abstract double area();
    }

    static final class Circle extends Shape {
        private final double radius;

        Circle(double radius) {
            this.radius = radius;
        }

        @Override
        double area() {
            return Math.PI * radius * radius;
        }
    }

    static final class Square extends Shape {
        private final double side;

        Square(double side) {
            this.side = side;
        }

        @Override
        double area() {
            return side * side;
        }
    }

    static final class Rectangle extends Shape {
        private final double width;
        private final double height;

        Rectangle(double width, double height) {
            this.width = width;
            this.height = height;
        }

        @Override
        double area() {
            return width * height;
        }
    }

    static final class Triangle extends Shape {
        private final double base;
        private final double height;

        Triangle(double base, double height) {
            this.base = base;
            this.height = height;
        }

        @Override
        double area() {
            return base * height / 2;
        }
    }

    @Param("1024")
    public int size;

    private Shape[] shapes;

    @Setup
    public void fill() {
        Random random = new Random(42);
        shapes = new Shape[size];
        for (int i = 0; i < size; i++) {
            double a = 1 + random.nextDouble();
            double b = 1 + random.nextDouble();
            switch (random.nextInt(4)) {
                case 0:
                    shapes[i] = new Circle(a);
                    break;
                case 1:
                    shapes[i] = new Square(a);
                    break;
                case 2:
                    shapes[i] = new Rectangle(a, b);
                    break;
                default:
                    shapes[i] = new Triangle(a, b);
            }
        }
    }

    @Benchmark
    public double areas() {
        double sum = 0;
        for (Shape shape : shapes) {
            sum += shape.area();
        }
        return sum;
    }
}
