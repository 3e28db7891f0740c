import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** Prints all methods of some classes, then waits for the end of its input. */
public class Listed {
    interface Shape {
        double area();

        default String text() {
            return "shape " + area();
        }
    }

    abstract static class Base implements Shape {
        Base(int size, String... names) {}

        abstract long[][] many(Base[] of, boolean z, byte b, char c, short s, float f, double d);

        synchronized Object twice(Object o) {
            return o;
        }

        Object twice(int o) {
            return o;
        }
    }

    static class Größe extends Base {
        Größe() {
            super(1);
        }

        @Override
        public double area() {
            return 1;
        }

        @Override
        long[][] many(Base[] of, boolean z, byte b, char c, short s, float f, double d) {
            return null;
        }

        static native void nothing();
    }

    static String descriptor(Class<?> type) {
        String name = java.lang.reflect.Array.newInstance(type, 0).getClass().getName();
        return name.substring(1).replace('.', '/');
    }

    static void print(Class<?> in, String name, Class<?>[] types, String result, int modifiers) {
        StringBuilder line = new StringBuilder(in.getName().replace('.', '/') + " " + name + "(");
        for (Class<?> t : types) {
            line.append(descriptor(t));
        }
        System.out.println(line + ")" + result + " " + in.isInterface() + " " + Modifier.isStatic(modifiers) + " "
            + Modifier.isNative(modifiers) + " " + Modifier.isAbstract(modifiers));
    }

    public static void main(String[] args) throws Exception {
        System.setOut(new java.io.PrintStream(System.out, true, "UTF-8"));
        new Größe().text();
        for (Class<?> c : new Class<?>[] {Listed.class, Shape.class, Base.class, Größe.class, Runnable.class, java.util.BitSet.class}) {
            for (Constructor<?> m : c.getDeclaredConstructors()) {
                print(c, "<init>", m.getParameterTypes(), "V", m.getModifiers());
            }
            for (Method m : c.getDeclaredMethods()) {
                if (!m.isBridge()) {
                    print(c, m.getName(), m.getParameterTypes(), m.getReturnType() == void.class ? "V" : descriptor(m.getReturnType()), m.getModifiers());
                }
            }
        }
        System.out.println("java/util/BitSet <clinit>()V false true false false");
        System.out.println("ready");
        while (System.in.read() >= 0) {}
    }
}
