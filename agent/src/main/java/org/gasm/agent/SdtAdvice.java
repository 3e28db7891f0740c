package org.gasm.agent;

import java.util.ArrayList;
import java.util.List;

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Adds calls of the sites of gasm's shared object to a method, at its entry and at its exits.
 *
 * At the entry, a jump skips the call if nobody watches. The stack map frame that the jump needs is known there: it has
 * the parameters. It is not known at the exits, so the code that is called there looks at the semaphore itself. That
 * code is small enough for JIT compilers to inline. A constructor's entry is after its call of super() or this(), where
 * nothing is known of its variables either.
 */
final class SdtAdvice extends MethodVisitor {
    private static final String SITES = "java/lang/GasmSites";
    private static final int VALUES = 8; // arguments of a site
    private static final String OBJECT = "Ljava/lang/Object;";
    private static final Type STRING = Type.getObjectType("java/lang/String");

    private final int access;
    private final String owner, descriptor;
    private final boolean constructor, frames;
    private final boolean thisKept; // variable 0 is always this
    private final MethodAdvice.Shape shape;
    private final int site;
    private final Label start = new Label();
    private boolean begun;
    private int uninitialized; // number of objects that NEW has made, but whose constructor was not called yet

    SdtAdvice(MethodVisitor to, int access, String owner, String name, String descriptor, int version, MethodAdvice.Shape shape, int site) {
        super(Opcodes.ASM9, to);
        this.access = access;
        this.owner = owner;
        this.descriptor = descriptor;
        this.constructor = name.equals("<init>");
        this.frames = (version & 0xffff) >= Opcodes.V1_6;
        this.thisKept = (access & Opcodes.ACC_STATIC) == 0 && !shape.storesFirst;
        this.shape = shape;
        this.site = site;
    }

    @Override
    public void visitCode() {
        super.visitCode();
        if (constructor) {
            return;
        }
        push(site);
        super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "on", "(I)Z", false);
        Label unwatched = new Label();
        super.visitJumpInsn(Opcodes.IFEQ, unwatched);
        fireEntry();
        super.visitLabel(unwatched);
        if (frames) {
            Object[] locals = parameters();
            super.visitFrame(Opcodes.F_NEW, locals.length, locals, 0, new Object[0]);
            super.visitInsn(Opcodes.NOP); // the method's own code may begin with a frame, too
        }
        begin();
    }

    private void begin() {
        begun = true;
        super.visitLabel(start);
    }

    /** Returns the types of the variables at the method's start, in the form of a frame. */
    private Object[] parameters() {
        List<Object> types = new ArrayList<Object>();
        if ((access & Opcodes.ACC_STATIC) == 0) {
            types.add(owner);
        }
        for (Type t : Type.getArgumentTypes(descriptor)) {
            switch (t.getSort()) {
                case Type.FLOAT:
                    types.add(Opcodes.FLOAT);
                    break;
                case Type.LONG:
                    types.add(Opcodes.LONG);
                    break;
                case Type.DOUBLE:
                    types.add(Opcodes.DOUBLE);
                    break;
                case Type.ARRAY:
                case Type.OBJECT:
                    types.add(t.getInternalName());
                    break;
                default:
                    types.add(Opcodes.INTEGER);
            }
        }
        return types.toArray();
    }

    /** Calls the site of the entry with the parameters: all numbers first, and then all strings. */
    private void fireEntry() {
        push(site);
        Type[] types = Type.getArgumentTypes(descriptor);
        int values = Math.min(types.length, VALUES - 1);
        self();
        super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "id", "(" + OBJECT + ")J", false);
        int var = first();
        for (int i = 0; i < values; var += types[i++].getSize()) {
            if (types[i].equals(STRING)) {
                super.visitInsn(Opcodes.LCONST_0);
                continue;
            }
            super.visitVarInsn(types[i].getOpcode(Opcodes.ILOAD), var);
            toLong(types[i]);
        }
        for (int i = values; i < VALUES - 1; i++) {
            super.visitInsn(Opcodes.LCONST_0);
        }
        super.visitInsn(Opcodes.ACONST_NULL);
        var = first();
        for (int i = 0; i < values; var += types[i++].getSize()) {
            if (types[i].equals(STRING)) {
                super.visitVarInsn(Opcodes.ALOAD, var);
            } else {
                super.visitInsn(Opcodes.ACONST_NULL);
            }
        }
        for (int i = values; i < VALUES - 1; i++) {
            super.visitInsn(Opcodes.ACONST_NULL);
        }
        super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "fire", repeated("(I", "J", VALUES, STRING.getDescriptor()), false);
    }

    /** Returns the variable of the first parameter. */
    private int first() {
        return (access & Opcodes.ACC_STATIC) == 0 ? 1 : 0;
    }

    /** Converts the value on the stack to a long. */
    private void toLong(Type t) {
        switch (t.getSort()) {
            case Type.LONG:
                break;
            case Type.FLOAT:
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/Float", "floatToRawIntBits", "(F)I", false);
                super.visitInsn(Opcodes.I2L);
                break;
            case Type.DOUBLE:
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/Double", "doubleToRawLongBits", "(D)J", false);
                break;
            case Type.ARRAY:
            case Type.OBJECT:
                super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "id", "(" + OBJECT + ")J", false);
                break;
            default:
                super.visitInsn(Opcodes.I2L);
        }
    }

    /** Pushes this, or null if it is not available. */
    private void self() {
        if (thisKept) {
            super.visitVarInsn(Opcodes.ALOAD, 0);
        } else {
            super.visitInsn(Opcodes.ACONST_NULL);
        }
    }

    private void push(int value) {
        if (value <= 5) {
            super.visitInsn(Opcodes.ICONST_0 + value);
        } else {
            super.visitIntInsn(Opcodes.SIPUSH, value);
        }
    }

    @Override
    public void visitInsn(int opcode) {
        if (begun && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
            returned(opcode);
        }
        super.visitInsn(opcode);
    }

    /** Calls the site of a return. The returned value is on the stack, and stays there. */
    private void returned(int opcode) {
        boolean object = opcode == Opcodes.ARETURN;
        if (opcode == Opcodes.RETURN) {
            super.visitInsn(Opcodes.LCONST_0);
        } else {
            boolean wide = opcode == Opcodes.LRETURN || opcode == Opcodes.DRETURN;
            super.visitInsn(wide ? Opcodes.DUP2 : Opcodes.DUP);
            if (!object) {
                toLong(Type.getReturnType(descriptor));
            }
        }
        self();
        push(site + 1);
        super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "returned", "(" + (object ? OBJECT : "J") + OBJECT + "I)V", false);
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        if (opcode == Opcodes.NEW) {
            uninitialized++;
        }
        super.visitTypeInsn(opcode, type);
    }

    @Override
    public void visitMethodInsn(int opcode, String of, String name, String called, boolean isInterface) {
        super.visitMethodInsn(opcode, of, name, called, isInterface);
        if (opcode != Opcodes.INVOKESPECIAL || !name.equals("<init>")) {
            return;
        }
        if (uninitialized > 0) {
            uninitialized--;
        } else if (constructor && !begun) { // super() or this()
            constructed();
            begin();
        }
    }

    /**
     * Calls the site of a constructor's entry. A variable that the code stores into may hold anything, so it is not
     * passed.
     */
    private void constructed() {
        push(site);
        super.visitVarInsn(Opcodes.ALOAD, 0);
        Type[] types = Type.getArgumentTypes(descriptor);
        for (int pass = 0; pass < 2; pass++) { // all numbers, and then all objects
            int var = 1;
            for (int i = 0; i < VALUES - 1; i++) {
                boolean object = i < types.length && types[i].getSort() >= Type.ARRAY;
                boolean told = i < types.length && object == (pass == 1) && !shape.stores(var, types[i].getSize());
                if (told) {
                    super.visitVarInsn(types[i].getOpcode(Opcodes.ILOAD), var);
                    if (!object) {
                        toLong(types[i]);
                    }
                } else {
                    super.visitInsn(pass == 0 ? Opcodes.LCONST_0 : Opcodes.ACONST_NULL);
                }
                var += i < types.length ? types[i].getSize() : 0;
            }
        }
        super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "constructed", repeated("(I" + OBJECT, "J", VALUES - 1, OBJECT), false);
    }

    /** Returns a descriptor: the given beginning, and then n numbers and n objects. */
    private static String repeated(String begin, String number, int n, String object) {
        StringBuilder all = new StringBuilder(begin);
        for (int i = 0; i < n; i++) {
            all.append(number);
        }
        for (int i = 0; i < n; i++) {
            all.append(object);
        }
        return all.append(")V").toString();
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        if (begun) {
            Label end = new Label();
            super.visitLabel(end);
            super.visitTryCatchBlock(start, end, end, null);
            if (frames) {
                Object[] known = thisKept ? new Object[] {owner} : new Object[0];
                super.visitFrame(Opcodes.F_NEW, known.length, known, 1, new Object[] {"java/lang/Throwable"});
            }
            super.visitInsn(Opcodes.DUP);
            self();
            push(site + 1);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "thrown", "(Ljava/lang/Throwable;" + OBJECT + "I)V", false);
            super.visitInsn(Opcodes.ATHROW);
        }
        super.visitMaxs(maxStack, maxLocals);
    }
}
