package nmethod

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// bytecodeNames are the names of the bytecodes in the JVM Specification; the index is the bytecode's number.
var bytecodeNames = strings.Fields(`
nop aconst_null iconst_m1 iconst_0 iconst_1 iconst_2 iconst_3 iconst_4 iconst_5 lconst_0 lconst_1 fconst_0 fconst_1 fconst_2
dconst_0 dconst_1 bipush sipush ldc ldc_w ldc2_w iload lload fload dload aload iload_0 iload_1 iload_2 iload_3
lload_0 lload_1 lload_2 lload_3 fload_0 fload_1 fload_2 fload_3 dload_0 dload_1 dload_2 dload_3 aload_0 aload_1 aload_2 aload_3
iaload laload faload daload aaload baload caload saload istore lstore fstore dstore astore istore_0 istore_1 istore_2 istore_3
lstore_0 lstore_1 lstore_2 lstore_3 fstore_0 fstore_1 fstore_2 fstore_3 dstore_0 dstore_1 dstore_2 dstore_3
astore_0 astore_1 astore_2 astore_3 iastore lastore fastore dastore aastore bastore castore sastore
pop pop2 dup dup_x1 dup_x2 dup2 dup2_x1 dup2_x2 swap iadd ladd fadd dadd isub lsub fsub dsub imul lmul fmul dmul
idiv ldiv fdiv ddiv irem lrem frem drem ineg lneg fneg dneg ishl lshl ishr lshr iushr lushr iand land ior lor ixor lxor iinc
i2l i2f i2d l2i l2f l2d f2i f2l f2d d2i d2l d2f i2b i2c i2s lcmp fcmpl fcmpg dcmpl dcmpg
ifeq ifne iflt ifge ifgt ifle if_icmpeq if_icmpne if_icmplt if_icmpge if_icmpgt if_icmple if_acmpeq if_acmpne
goto jsr ret tableswitch lookupswitch ireturn lreturn freturn dreturn areturn return
getstatic putstatic getfield putfield invokevirtual invokespecial invokestatic invokeinterface invokedynamic
new newarray anewarray arraylength athrow checkcast instanceof monitorenter monitorexit wide multianewarray ifnull ifnonnull
goto_w jsr_w breakpoint`)

// rewrittenNames are names for HotSpot's own bytecodes, whose numbers follow those of the Specification
// (Bytecodes::Code in bytecodes.hpp). HotSpot replaces standard bytecodes with its own when it rewrites or resolves
// them. It still prints the standard names, so this list has the standard names, too. The order is that of JDK 11 to
// 27.
var rewrittenNames = strings.Fields(strings.Repeat("getfield ", 8) + strings.Repeat("putfield ", 9) +
	`aload_0 aload_0 aload_0 aload_0 iload iload iload invokevirtual lookupswitch lookupswitch ldc ldc_w return invokevirtual
getfield putfield aload_0 iload`)

// javaCodes is the symbol of the table in which HotSpot maps each bytecode to the standard one that it replaces
// (Bytecodes::_java_code). Each element has four bytes.
const javaCodes = "_ZN9Bytecodes10_java_codeE"

// ErrStarting is wrapped by the error of [Copier.Frames] if the JVM is just starting. A Copier that is made later can
// read frames.
var ErrStarting = errors.New("the JVM is just starting")

// readBytecodes returns the names of all bytecodes, indexed by their numbers. HotSpot's own bytecodes have the names of
// the standard ones that they replace.
func (c *Copier) readBytecodes() (*[256]string, error) {
	names := new([256]string)
	copy(names[:], bytecodeNames)
	at, ok := c.symbols[javaCodes]
	if !ok && c.layout.release < 28 {
		copy(names[len(bytecodeNames):], rewrittenNames)
		return names, nil
	}
	if !ok {
		return names, fmt.Errorf("libjvm.so has no symbol for the table of JDK %d's own bytecodes", c.layout.release)
	}
	// The table may have fewer than 256 elements. Reading past its end does no harm: libjvm.so has more data there, and
	// no bytecode uses these elements.
	table, err := c.vm.Read(nil, at, 4*uint64(len(names)))
	if err != nil {
		return names, fmt.Errorf("the table of bytecodes: %w", err)
	}
	for i := range names {
		code := binary.LittleEndian.Uint32(table[4*i:])
		switch {
		case 0 < i && i < len(bytecodeNames) && code == 0:
			return names, fmt.Errorf("the table of bytecodes has no %s yet: %w", bytecodeNames[i], ErrStarting)
		case i < len(bytecodeNames) && int(code) != i:
			return names, fmt.Errorf("the table of bytecodes says that %s is bytecode %d", bytecodeNames[i], code)
		case int(code) < len(bytecodeNames):
			names[i] = bytecodeNames[code]
		}
	}
	return names, nil
}

// bytecodeName returns the name of the bytecode at a bci. It returns "" if the bci is outside the method's bytecode.
func (c *Copier) bytecodeName(m *method, bci int) string {
	if bci < 0 || bci >= len(m.bytecode) {
		return ""
	}
	return c.bytecodes[m.bytecode[bci]]
}
