import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/**
 * Evaluates expressions that are 40 deep, as an interpreter does, so that its call stacks have 30 frames on average and nearly
 * all of them differ. For each line of its input it prints how many rounds it has done, and the CPU time in nanoseconds that
 * these took: "1234 5678000000".
 */
public class Expressions {
    interface Node {
        long eval(long[] variables);
    }

    static final class Variable implements Node {
        final int index;

        Variable(int index) {
            this.index = index;
        }

        public long eval(long[] variables) {
            return variables[index];
        }
    }

    static final class Add implements Node {
        final Node left;
        final Node right;

        Add(Node left, Node right) {
            this.left = left;
            this.right = right;
        }

        public long eval(long[] variables) {
            return left.eval(variables) + right.eval(variables);
        }
    }

    static final class Multiply implements Node {
        final Node left;
        final Node right;

        Multiply(Node left, Node right) {
            this.left = left;
            this.right = right;
        }

        public long eval(long[] variables) {
            return left.eval(variables) * right.eval(variables);
        }
    }

    static final class Choose implements Node {
        final Node condition;
        final Node otherwise;

        Choose(Node condition, Node otherwise) {
            this.condition = condition;
            this.otherwise = otherwise;
        }

        public long eval(long[] variables) {
            return (condition.eval(variables) & 1) == 0 ? otherwise.eval(variables) : -otherwise.eval(variables);
        }
    }

    static final class Let implements Node {
        final int index;
        final Node value;
        final Node body;

        Let(int index, Node value, Node body) {
            this.index = index;
            this.value = value;
            this.body = body;
        }

        public long eval(long[] variables) {
            long[] inner = variables.clone();
            inner[index] = value.eval(variables);
            return body.eval(inner);
        }
    }

    static final class Text implements Node {
        final Node value;

        Text(Node value) {
            this.value = value;
        }

        public long eval(long[] variables) {
            return Long.toString(value.eval(variables)).hashCode();
        }
    }

    static final int VARIABLES = 8;

    static Node node(Random random, int depth) {
        if (depth == 0) {
            return new Variable(random.nextInt(VARIABLES));
        }
        Node deep = node(random, depth - 1);
        Node other = new Variable(random.nextInt(VARIABLES));
        switch (random.nextInt(5)) {
            case 0:
                return new Add(deep, other);
            case 1:
                return new Multiply(other, deep);
            case 2:
                return new Choose(other, deep);
            case 3:
                return new Let(random.nextInt(VARIABLES), other, deep);
            default:
                return new Text(deep);
        }
    }

    static volatile long sink;
    static volatile long rounds;

    static void evaluate() {
        Random random = new Random(42);
        Node[] expressions = new Node[64];
        for (int i = 0; i < expressions.length; i++) {
            expressions[i] = node(random, 40);
        }
        for (;;) {
            for (Node expression : expressions) {
                sink = expression.eval(new long[VARIABLES]);
            }
            rounds++;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread evaluating = new Thread(Expressions::evaluate, "evaluating");
        evaluating.setDaemon(true);
        evaluating.start();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        while (System.in.read() >= 0) { // the lines are empty
            System.out.println(rounds + " " + threads.getThreadCpuTime(evaluating.getId()));
        }
    }
}
