package nmethod

import (
	"encoding/binary"
	"strings"
)

// bytecodeNames are those of the JVM Specification, from 0 on.
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

// quickNames are those of HotSpot's own bytecodes, behind the others, by which
// it replaces some when it has resolved them (Bytecodes::Code in bytecodes.hpp).
var quickNames = strings.Fields(strings.Repeat("getfield ", 8) + strings.Repeat("putfield ", 9) +
	`aload_0 aload_0 aload_0 aload_0 iload iload iload invokevirtual lookupswitch lookupswitch ldc ldc_w return invokevirtual
getfield putfield aload_0 iload`)

// bytecode names the bytecode at a bci; "" where there is none.
func (m *method) bytecode(bci int) string {
	if bci < 0 || bci >= len(m.code) {
		return ""
	}
	code := int(m.code[bci])
	if code < len(bytecodeNames) {
		return bytecodeNames[code]
	}
	if code -= len(bytecodeNames); code < len(quickNames) {
		return quickNames[code]
	}
	return ""
}

// member names the field or the method that the bytecode at a bci refers to; ""
// for bytecodes that refer to none.
func (j *JVM) member(m *method, bci int) string {
	name := m.bytecode(bci)
	var in *table
	switch {
	case strings.HasPrefix(name, "get"), strings.HasPrefix(name, "put"):
		in = &j.layout.fields
	case strings.HasPrefix(name, "invoke") && name != "invokedynamic": // HotSpot names no call site either
		in = &j.layout.methods
	default:
		return ""
	}
	operand := m.code[bci+1:]
	if len(operand) < 2 {
		return ""
	}
	return j.memberName(m, in, uint64(binary.LittleEndian.Uint16(operand)))
}

// A memberKey is a place in a constant pool's table.
type memberKey struct {
	pool, table, index uint64
}

// memberName reads the name that an entry of a table leads to, or remembers it; ""
// where it can't be read.
func (j *JVM) memberName(m *method, in *table, index uint64) string {
	key := memberKey{m.pool, in.field, index}
	if name, ok := j.members[key]; ok {
		return name
	}
	name, err := j.readMember(m.pool, in, index)
	if err != nil {
		name = ""
	}
	name = quote(name)
	j.members[key] = name
	return name
}

// readMember goes from the entry to the constant pool's Fieldref or Methodref, from
// there to its NameAndType, and from there to the name. Both have two indices in one
// word (ConstantPool::field_at_put, name_and_type_at_put).
func (j *JVM) readMember(pool uint64, in *table, index uint64) (string, error) {
	at, err := j.mem.word(pool + j.layout.cache)
	if err != nil {
		return "", err
	}
	if !in.direct {
		if at, err = j.mem.word(at + in.field); err != nil {
			return "", err
		}
	}
	entry, err := j.mem.word(at + in.first + index*in.stride + in.index)
	if err != nil {
		return "", err
	}
	ref, err := j.slot(pool, entry&0xffff)
	if err != nil {
		return "", err
	}
	nameAndType, err := j.slot(pool, ref>>16&0xffff)
	if err != nil {
		return "", err
	}
	return j.symbolAt(pool, nameAndType&0xffff)
}
