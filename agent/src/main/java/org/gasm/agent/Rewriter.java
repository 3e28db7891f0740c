package org.gasm.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Changes the chosen methods of one class file. All others stay byte for byte as they are.
 */
final class Rewriter {
    /** The beginning of a native method's new name, if a wrapper takes its old name. */
    static final String NATIVE_PREFIX = "gasm$";

    private static final int NEWEST = Opcodes.V25; // the newest version that ASM knows; so far, later ones have changed nothing that matters here

    private final Agent agent;
    private final byte[] code;
    private final int version; // as the class file has it
    private final List<Probe> probes;
    private final boolean loading; // the class is being loaded, so methods may be added
    private final ClassReader reader;
    private final MethodAdvice.Offset at = new MethodAdvice.Offset();
    private final Map<String, MethodAdvice.Shape> shapes = new HashMap<String, MethodAdvice.Shape>();
    final List<Site> sites = new ArrayList<Site>();
    private int access;
    private String owner;

    Rewriter(Agent agent, byte[] classFile, List<Probe> probes, boolean loading) {
        this.agent = agent;
        this.probes = probes;
        this.loading = loading;
        this.version = (classFile[6] & 0xff) << 8 | classFile[7] & 0xff;
        this.code = classFile.clone();
        if (version > NEWEST) {
            setVersion(code, NEWEST);
        }
        this.reader = new ClassReader(code) {
            @Override
            protected void readBytecodeInstructionOffset(int bytecodeOffset) {
                at.bci = bytecodeOffset;
            }
        };
    }

    private static void setVersion(byte[] classFile, int version) {
        classFile[6] = (byte) (version >> 8);
        classFile[7] = (byte) version;
    }

    /** Returns the changed class file, or null if nothing in it is to be changed. */
    byte[] rewrite() {
        access = reader.getAccess();
        owner = reader.getClassName();
        findShapes();
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        Chooser chooser = new Chooser(writer);
        reader.accept(chooser, ClassReader.EXPAND_FRAMES);
        if (sites.isEmpty()) {
            return null;
        }
        byte[] changed = writer.toByteArray();
        if (version > NEWEST) {
            setVersion(changed, version);
        }
        return changed;
    }

    private void findShapes() {
        reader.accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                final MethodAdvice.Shape shape = new MethodAdvice.Shape();
                shapes.put(name + descriptor, shape);
                shape.locks = (access & Opcodes.ACC_SYNCHRONIZED) != 0;
                return new MethodVisitor(Opcodes.ASM9) {
                    @Override
                    public void visitInsn(int opcode) {
                        shape.locks |= opcode == Opcodes.MONITORENTER;
                    }

                    @Override
                    public void visitTypeInsn(int opcode, String type) {
                        shape.allocates |= opcode == Opcodes.NEW || opcode == Opcodes.ANEWARRAY;
                    }

                    @Override
                    public void visitIntInsn(int opcode, int operand) {
                        shape.allocates |= opcode == Opcodes.NEWARRAY;
                    }

                    @Override
                    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
                        shape.allocates = true;
                    }

                    @Override
                    public void visitVarInsn(int opcode, int var) {
                        if (opcode >= Opcodes.ISTORE && opcode <= Opcodes.ASTORE) {
                            shape.stored(var, opcode == Opcodes.LSTORE || opcode == Opcodes.DSTORE);
                        }
                    }

                    @Override
                    public void visitMaxs(int maxStack, int maxLocals) {
                        shape.maxLocals = maxLocals;
                    }
                };
            }
        }, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    }

    /** Finds the probes of each method. */
    private final class Chooser extends ClassVisitor {
        Chooser(ClassVisitor to) {
            super(Opcodes.ASM9, to);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            Site calls = site(Probe.METHOD, access, name, descriptor);
            Site sdt = site(Probe.SDT, access, name, descriptor);
            if (calls != null && (access & Opcodes.ACC_NATIVE) != 0) {
                return wrap(calls, access, name, descriptor, signature, exceptions);
            }
            Site locks = site(Probe.LOCK, access, name, descriptor);
            Site allocations = site(Probe.ALLOCATION, access, name, descriptor);
            MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
            MethodAdvice.Shape shape = shapes.get(name + descriptor);
            if (calls != null || locks != null || allocations != null) {
                to = new MethodAdvice(to, access, owner, name, version, shape, calls, locks, allocations, at);
            }
            return sdt == null ? to : new SdtAdvice(to, access, owner, name, descriptor, version, shape, sdt.first);
        }

        private Site site(String kind, int access, String name, String descriptor) {
            MethodAdvice.Shape shape = shapes.get(name + descriptor);
            if (kind.equals(Probe.LOCK) && !shape.locks || kind.equals(Probe.ALLOCATION) && !shape.allocates) {
                return null;
            }
            Site found = null;
            for (Probe p : probes) {
                if (!p.kind.equals(kind) || !p.matchesMethod(name, descriptor, (access & Opcodes.ACC_BRIDGE) != 0)) {
                    continue;
                }
                String obstacle = obstacle(kind, access);
                if (obstacle == null) {
                    Site s = agent.site(p, owner.replace('/', '.'), name, descriptor, (access & Opcodes.ACC_STATIC) != 0);
                    if (s != null) {
                        s.add(p);
                        found = s;
                    }
                    continue;
                }
                if (!obstacle.isEmpty()) {
                    agent.refuse(p, owner.replace('/', '.') + "::" + name, obstacle);
                }
            }
            if (found != null) {
                sites.add(found);
            }
            return found;
        }

        /**
         * Returns the reason why a method can't be probed. It is null if the method can be probed, and "" if the user
         * need not know.
         */
        private String obstacle(String kind, int access) {
            if ((access & Opcodes.ACC_ABSTRACT) != 0) {
                return ""; // its implementations are probed
            }
            if ((access & Opcodes.ACC_NATIVE) == 0) {
                return null;
            }
            if (kind.equals(Probe.SDT)) {
                return "it is native: probe a method that calls it";
            }
            if (!kind.equals(Probe.METHOD)) {
                return "";
            }
            if (!loading) {
                return "it is native, and its class was loaded before the agent came: a wrapper can only be added to a class while it is loaded"
                    + " (gasm profile can, for classes of the program)";
            }
            return agent.wrapsNative() ? null : "it is native, and this JVM lets no agent wrap native methods";
        }

        /** Renames a native method, and makes a method with the old name that calls it. */
        private MethodVisitor wrap(Site calls, int access, String name, String descriptor, String signature, String[] exceptions) {
            int hidden = access & ~(Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED | Opcodes.ACC_SYNCHRONIZED) | Opcodes.ACC_PRIVATE | Opcodes.ACC_FINAL | Opcodes.ACC_SYNTHETIC;
            super.visitMethod(hidden, NATIVE_PREFIX + name, descriptor, signature, exceptions).visitEnd();
            int wrapper = access & ~Opcodes.ACC_NATIVE;
            MethodVisitor to = super.visitMethod(wrapper, name, descriptor, signature, exceptions);
            MethodAdvice.Shape shape = new MethodAdvice.Shape();
            boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
            shape.maxLocals = (Type.getArgumentsAndReturnSizes(descriptor) >> 2) - (isStatic ? 1 : 0);
            MethodVisitor mv = new MethodAdvice(to, wrapper, owner, name, version, shape, calls, null, null, at);
            mv.visitCode();
            int var = 0;
            if (!isStatic) {
                mv.visitVarInsn(Opcodes.ALOAD, var++);
            }
            for (Type t : Type.getArgumentTypes(descriptor)) {
                mv.visitVarInsn(t.getOpcode(Opcodes.ILOAD), var);
                var += t.getSize();
            }
            boolean inInterface = (Rewriter.this.access & Opcodes.ACC_INTERFACE) != 0;
            mv.visitMethodInsn(isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKESPECIAL, owner, NATIVE_PREFIX + name, descriptor, inInterface);
            mv.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
            mv.visitMaxs(0, 0);
            return new MethodVisitor(Opcodes.ASM9, to) {}; // passes the annotations on; if it were to itself, ASM would copy the native method
        }
    }
}
