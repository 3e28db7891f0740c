package org.gasm.agent;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Adds calls to a method that report its entry and exits, its locks, and its allocations.
 *
 * A probed method has two more local variables, after its own: the thread's GasmProbes, and the time at which the call
 * began. All of its code is in one more exception handler, after its own handlers. This handler reports that the method
 * ends with an exception, and throws the exception again. In the handler nothing is known of the method's own
 * variables, so its stack map frame is right whatever they hold.
 *
 * A constructor's entry is after its call of super() or this(). Before that call there is no object to report, and no
 * handler is allowed.
 */
final class MethodAdvice extends MethodVisitor {
    private static final String RUNTIME = "java/lang/GasmProbes";

    private final int access;
    private final String owner;
    private final boolean constructor;
    private final boolean thisKept; // variable 0 is always this
    private final boolean frames;
    private final boolean classConstants; // the class file's version allows ldc of a class
    private final int probesVar, startVar, oldLocals;
    private final Site calls, locks, allocations; // null for none
    private final Offset at;

    private boolean begun;
    private final ArrayDeque<boolean[]> news = new ArrayDeque<boolean[]>(); // NEWs whose constructor was not called yet; true if a DUP follows
    private boolean afterNew; // the last instruction was NEW
    private int lockedAt = -1; // bytecode index of a monitorenter that is still to be reported; -1 for none
    private Label rangeStart; // null as long as the range has no instruction
    private boolean inRange;
    private final List<Label> heldLabels = new ArrayList<Label>(); // labels after a monitorenter, and their lines or -1
    private final List<Integer> heldLines = new ArrayList<Integer>();
    private final List<Label> ranges = new ArrayList<Label>(); // starts and ends, alternately

    /** The position of the reader in the code. */
    static final class Offset {
        int bci;
    }

    /** What must be known about a method's code before it is changed. */
    static final class Shape {
        int maxLocals;
        boolean storesFirst; // the code stores into variable 0
        private boolean[] stored = new boolean[16]; // by variable: true if the code stores into it
        boolean locks, allocates;

        void stored(int var, boolean wide) {
            storesFirst |= var == 0;
            int last = wide ? var + 1 : var;
            if (last >= stored.length) {
                stored = Arrays.copyOf(stored, last + 16);
            }
            stored[var] = true;
            stored[last] = true;
        }

        /** Reports whether the code stores into an argument. */
        boolean stores(int var, int size) {
            return var < stored.length && stored[var] || var + size - 1 < stored.length && stored[var + size - 1];
        }
    }

    MethodAdvice(MethodVisitor to, int access, String owner, String name, int version, Shape shape, Site calls, Site locks, Site allocations, Offset at) {
        super(Opcodes.ASM9, to);
        this.access = access;
        this.owner = owner;
        this.constructor = name.equals("<init>");
        this.classConstants = (version & 0xffff) >= Opcodes.V1_5;
        this.frames = (version & 0xffff) >= Opcodes.V1_6;
        this.thisKept = (access & Opcodes.ACC_STATIC) == 0 && !shape.storesFirst;
        this.oldLocals = shape.maxLocals;
        this.probesVar = oldLocals;
        this.startVar = oldLocals + 1;
        this.calls = calls;
        this.locks = locks;
        this.allocations = allocations;
        this.at = at;
    }

    @Override
    public void visitCode() {
        super.visitCode();
        if (!constructor) {
            begin();
        } else if (calls != null) {
            mv.visitInsn(Opcodes.ACONST_NULL);
            mv.visitVarInsn(Opcodes.ASTORE, probesVar);
            mv.visitInsn(Opcodes.LCONST_0);
            mv.visitVarInsn(Opcodes.LSTORE, startVar);
        }
    }

    private void begin() {
        begun = true;
        if (calls != null) {
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, RUNTIME, "current", "()L" + RUNTIME + ";", false);
            mv.visitInsn(Opcodes.DUP);
            mv.visitVarInsn(Opcodes.ASTORE, probesVar);
            String enter = calls.window ? "enterWindow" : "enter";
            if (calls.self && thisKept) {
                mv.visitVarInsn(Opcodes.ALOAD, 0);
                push(calls.id);
                mv.visitMethodInsn(Opcodes.INVOKEVIRTUAL, RUNTIME, enter + "Of", "(Ljava/lang/Object;I)J", false);
            } else {
                push(calls.id);
                mv.visitMethodInsn(Opcodes.INVOKEVIRTUAL, RUNTIME, enter, "(I)J", false);
            }
            mv.visitVarInsn(Opcodes.LSTORE, startVar);
        }
        if (locks != null && (access & Opcodes.ACC_SYNCHRONIZED) != 0) {
            lockOfMethod();
            tell("acquired", locks, -1);
        }
        openRange();
    }

    /** Pushes the object whose lock a synchronized method has acquired. */
    private void lockOfMethod() {
        if ((access & Opcodes.ACC_STATIC) == 0) {
            mv.visitVarInsn(Opcodes.ALOAD, 0);
        } else if (classConstants) {
            mv.visitLdcInsn(Type.getObjectType(owner));
        } else {
            mv.visitInsn(Opcodes.ACONST_NULL);
        }
    }

    /** Calls a method of GasmProbes with the object on top of the stack. */
    private void tell(String what, Site site, int bci) {
        push(site.id);
        push(bci);
        mv.visitMethodInsn(Opcodes.INVOKESTATIC, RUNTIME, what, "(Ljava/lang/Object;II)V", false);
    }

    private void push(int value) {
        if (value >= -1 && value <= 5) {
            mv.visitInsn(Opcodes.ICONST_0 + value);
        } else if (value >= Short.MIN_VALUE && value <= Short.MAX_VALUE) {
            mv.visitIntInsn(Opcodes.SIPUSH, value);
        } else {
            mv.visitLdcInsn(value);
        }
    }

    /** Reports the end of the method: a return or, in the handler, an exception. */
    private void end(boolean thrown) {
        if (locks != null && (access & Opcodes.ACC_SYNCHRONIZED) != 0) {
            if (!thrown || thisKept || (access & Opcodes.ACC_STATIC) != 0) {
                lockOfMethod();
            } else { // the handler does not know what is in variable 0
                mv.visitInsn(Opcodes.ACONST_NULL);
            }
            tell("released", locks, -1);
        }
        if (calls == null) {
            return;
        }
        mv.visitVarInsn(Opcodes.ALOAD, probesVar);
        push(calls.id);
        mv.visitVarInsn(Opcodes.LLOAD, startVar);
        if (calls.window) {
            push(thrown ? 1 : 0);
            mv.visitMethodInsn(Opcodes.INVOKEVIRTUAL, RUNTIME, "leaveWindow", "(IJZ)V", false);
        } else {
            mv.visitMethodInsn(Opcodes.INVOKEVIRTUAL, RUNTIME, thrown ? "leaveThrown" : "leave", "(IJ)V", false);
        }
    }

    /** Reports whether the method needs the handler. */
    private boolean handles() {
        return calls != null || locks != null && (access & Opcodes.ACC_SYNCHRONIZED) != 0;
    }

    private void openRange() {
        inRange = handles();
        rangeStart = null;
    }

    private void closeRange() {
        if (inRange && rangeStart != null) {
            Label end = new Label();
            mv.visitLabel(end);
            ranges.add(rangeStart);
            ranges.add(end);
        }
        inRange = false;
    }

    /**
     * Reports the lock that the last instruction has acquired. Usually the call comes after the labels that precede the
     * next instruction, because the range of the handler that releases the lock begins there. If a jump leads to these
     * labels, the call must come before them: it needs the object on the stack, but the stack map frame at the labels
     * does not have it.
     */
    private void tellLocked(boolean jumpedTo) {
        if (lockedAt < 0) {
            return;
        }
        int bci = lockedAt;
        lockedAt = -1;
        if (jumpedTo) {
            tell("acquired", locks, bci);
        }
        for (int i = 0; i < heldLabels.size(); i++) {
            mv.visitLabel(heldLabels.get(i));
            if (heldLines.get(i) >= 0) {
                mv.visitLineNumber(heldLines.get(i), heldLabels.get(i));
            }
        }
        heldLabels.clear();
        heldLines.clear();
        if (!jumpedTo) {
            tell("acquired", locks, bci);
        }
    }

    @Override
    public void visitLabel(Label label) {
        if (lockedAt >= 0 && !frames) {
            tellLocked(true); // without frames, it is not known whether a jump leads to the label
        }
        if (lockedAt >= 0) {
            heldLabels.add(label);
            heldLines.add(-1);
        } else {
            mv.visitLabel(label);
        }
    }

    @Override
    public void visitLineNumber(int line, Label start) {
        int held = heldLabels.lastIndexOf(start);
        if (held >= 0) {
            heldLines.set(held, line);
        } else {
            mv.visitLineNumber(line, start);
        }
    }

    /** Is called before each instruction of the method itself. */
    private void next() {
        tellLocked(false);
        if (inRange && rangeStart == null) {
            rangeStart = new Label();
            mv.visitLabel(rangeStart);
        }
    }

    @Override
    public void visitInsn(int opcode) {
        if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN && begun) {
            tellLocked(false);
            closeRange();
            end(false);
            mv.visitInsn(opcode);
            openRange();
            return;
        }
        next();
        boolean dup = afterNew && opcode == Opcodes.DUP;
        if (dup) {
            news.peek()[0] = true;
        }
        afterNew = false;
        if (opcode == Opcodes.MONITORENTER && locks != null) {
            mv.visitInsn(Opcodes.DUP);
            mv.visitInsn(opcode);
            lockedAt = at.bci;
        } else if (opcode == Opcodes.MONITOREXIT && locks != null) {
            mv.visitInsn(Opcodes.DUP);
            tell("released", locks, at.bci);
            mv.visitInsn(opcode);
        } else {
            mv.visitInsn(opcode);
        }
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        next();
        afterNew = false;
        mv.visitTypeInsn(opcode, type);
        if (opcode == Opcodes.NEW) {
            news.push(new boolean[1]);
            afterNew = true;
        } else if (opcode == Opcodes.ANEWARRAY) {
            allocated(at.bci);
        }
    }

    private void allocated(int bci) {
        if (allocations != null) {
            mv.visitInsn(Opcodes.DUP);
            tell("allocated", allocations, bci);
        }
    }

    @Override
    public void visitMethodInsn(int opcode, String of, String name, String descriptor, boolean isInterface) {
        next();
        afterNew = false;
        int bci = at.bci;
        mv.visitMethodInsn(opcode, of, name, descriptor, isInterface);
        if (opcode != Opcodes.INVOKESPECIAL || !name.equals("<init>")) {
            return;
        }
        boolean[] created = news.poll();
        if (created == null) { // super() or this()
            if (constructor && !begun) {
                begin();
            }
        } else if (allocations != null && created[0]) {
            allocated(bci);
        } else if (allocations != null) {
            mv.visitInsn(Opcodes.ACONST_NULL); // nothing on the stack refers to the object
            tell("allocated", allocations, bci);
        }
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        next();
        afterNew = false;
        mv.visitIntInsn(opcode, operand);
        if (opcode == Opcodes.NEWARRAY) {
            allocated(at.bci);
        }
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
        next();
        afterNew = false;
        mv.visitMultiANewArrayInsn(descriptor, dimensions);
        allocated(at.bci);
    }

    @Override
    public void visitVarInsn(int opcode, int var) {
        next();
        afterNew = false;
        mv.visitVarInsn(opcode, var);
    }

    @Override
    public void visitFieldInsn(int opcode, String of, String name, String descriptor) {
        next();
        afterNew = false;
        mv.visitFieldInsn(opcode, of, name, descriptor);
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle method, Object... arguments) {
        next();
        afterNew = false;
        mv.visitInvokeDynamicInsn(name, descriptor, method, arguments);
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        next();
        afterNew = false;
        mv.visitJumpInsn(opcode, label);
    }

    @Override
    public void visitLdcInsn(Object value) {
        next();
        afterNew = false;
        mv.visitLdcInsn(value);
    }

    @Override
    public void visitIincInsn(int var, int by) {
        next();
        afterNew = false;
        mv.visitIincInsn(var, by);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
        next();
        afterNew = false;
        mv.visitTableSwitchInsn(min, max, other, labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
        next();
        afterNew = false;
        mv.visitLookupSwitchInsn(other, keys, labels);
    }

    @Override
    public void visitFrame(int type, int locals, Object[] local, int stacked, Object[] stack) {
        tellLocked(true);
        if (calls == null) {
            mv.visitFrame(type, locals, local, stacked, stack);
            return;
        }
        Object[] all = variables(locals, local);
        mv.visitFrame(Opcodes.F_NEW, all.length, all, stacked, stack);
    }

    /** Adds the two new variables after those of a frame. */
    private Object[] variables(int n, Object[] local) {
        List<Object> all = new ArrayList<Object>(Arrays.asList(local).subList(0, n));
        int slots = 0;
        for (Object type : all) {
            slots += type == Opcodes.LONG || type == Opcodes.DOUBLE ? 2 : 1;
        }
        for (; slots < oldLocals; slots++) {
            all.add(Opcodes.TOP);
        }
        all.add(RUNTIME);
        all.add(Opcodes.LONG);
        return all.toArray();
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        closeRange();
        if (!ranges.isEmpty()) {
            Label handler = new Label();
            for (int i = 0; i < ranges.size(); i += 2) {
                mv.visitTryCatchBlock(ranges.get(i), ranges.get(i + 1), handler, null);
            }
            mv.visitLabel(handler);
            if (frames) {
                Object[] known = thisKept ? new Object[] {owner} : new Object[0];
                known = calls == null ? known : variables(known.length, known);
                mv.visitFrame(Opcodes.F_NEW, known.length, known, 1, new Object[] {"java/lang/Throwable"});
            }
            end(true);
            mv.visitInsn(Opcodes.ATHROW);
        }
        mv.visitMaxs(maxStack, maxLocals);
    }
}
