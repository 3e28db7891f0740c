package arm64

// memory returns the rows of plain loads and stores: each instruction with each addressing mode.
func memory() []row {
	rows := []row{
		{0xff000000, 0x18000000, "ldr <Wt>, <rel19>"},
		{0xff000000, 0x58000000, "ldr <Xt>, <rel19>"},
		{0xff000000, 0x98000000, "ldrsw <Xt>, <rel19>"},
		{0xff000000, 0xd8000000, "prfm <prfop>, <rel19>"},
		{0xff000000, 0x1c000000, "ldr <St>, <rel19>"},
		{0xff000000, 0x5c000000, "ldr <Dt>, <rel19>"},
		{0xff000000, 0x9c000000, "ldr <Qt>, <rel19>"},
		{0xffe00c00, 0xf8800000, "prfum <prfop>, <addr9>"},
		{0xffe00c00, 0xf8a00800, "prfm <prfop>, <addrreg>"},
		{0xffc00000, 0xf9800000, "prfm <prfop>, <addr12>"},
		{0xffa00c00, 0xf8200400, "ldraa <Xt>, <addrauth>"},
		{0xffa00c00, 0xf8200c00, "ldraa <Xt>, <addrauth>!"},
		{0xffa00c00, 0xf8a00400, "ldrab <Xt>, <addrauth>"},
		{0xffa00c00, 0xf8a00c00, "ldrab <Xt>, <addrauth>!"},
	}
	for _, r := range singles {
		base := r.size<<30 | 0x38000000 | r.v<<26 | r.opc<<22
		reg := " <" + r.reg + "t>, "
		rows = append(rows,
			row{0xffc00000, base | 1<<24, r.verb + "r" + r.suffix + reg + "<addr12>"},
			row{0xffe00c00, base, r.verb + "ur" + r.suffix + reg + "<addr9>"},
			row{0xffe00c00, base | 0x400, r.verb + "r" + r.suffix + reg + "[<Xn|SP>], #<simm9>"},
			row{0xffe00c00, base | 0xc00, r.verb + "r" + r.suffix + reg + "[<Xn|SP>, #<simm9>]!"},
			row{0xffe00c00, base | 1<<21 | 0x800, r.verb + "r" + r.suffix + reg + "<addrreg>"})
		if r.v == 0 {
			rows = append(rows,
				row{0xffe00c00, base | 0x800, r.verb + "tr" + r.suffix + reg + "<addr9>"},
				row{0xffe00c00, base&^0x20000000 | 1<<24, releaseVerb[r.verb] + r.suffix + reg + "<addr9>"})
		}
	}
	for _, r := range pairs {
		base := r.opc<<30 | 0x28000000 | r.v<<26
		for load, verb := range [...]string{"st", "ld"} {
			if load == 0 && r.suffix != "" {
				continue // there is no stpsw
			}
			base := base | uint32(load)<<22
			regs := " <" + r.reg + "t>, <" + r.reg + "u>, "
			if r.suffix == "" {
				rows = append(rows, row{0xffc00000, base, verb + "np" + regs + "<addr7>"})
			}
			rows = append(rows,
				row{0xffc00000, base | 1<<23, verb + "p" + r.suffix + regs + "[<Xn|SP>], #<simm7>"},
				row{0xffc00000, base | 2<<23, verb + "p" + r.suffix + regs + "<addr7>"},
				row{0xffc00000, base | 3<<23, verb + "p" + r.suffix + regs + "[<Xn|SP>, #<simm7>]!"})
		}
	}
	return rows
}

// singles has the loads and stores of one register. The numbers are fields of the encoding. The mnemonic consists of
// the verb, an "r" and the suffix: "ld", "r" and "sb" make ldrsb. The last field is the class of the register.
var singles = []struct {
	size, v, opc uint32
	verb, suffix string
	reg          string
}{
	{0, 0, 0, "st", "b", "W"},
	{0, 0, 1, "ld", "b", "W"},
	{0, 0, 2, "ld", "sb", "X"},
	{0, 0, 3, "ld", "sb", "W"},
	{1, 0, 0, "st", "h", "W"},
	{1, 0, 1, "ld", "h", "W"},
	{1, 0, 2, "ld", "sh", "X"},
	{1, 0, 3, "ld", "sh", "W"},
	{2, 0, 0, "st", "", "W"},
	{2, 0, 1, "ld", "", "W"},
	{2, 0, 2, "ld", "sw", "X"},
	{3, 0, 0, "st", "", "X"},
	{3, 0, 1, "ld", "", "X"},
	{0, 1, 0, "st", "", "B"},
	{0, 1, 1, "ld", "", "B"},
	{0, 1, 2, "st", "", "Q"},
	{0, 1, 3, "ld", "", "Q"},
	{1, 1, 0, "st", "", "H"},
	{1, 1, 1, "ld", "", "H"},
	{2, 1, 0, "st", "", "S"},
	{2, 1, 1, "ld", "", "S"},
	{3, 1, 0, "st", "", "D"},
	{3, 1, 1, "ld", "", "D"},
}

// releaseVerb has the verbs of FEAT_LRCPC2's loads with acquire semantics and stores with release semantics, for
// example "ldapur" in ldapursb. The key is the verb of the plain load or store.
var releaseVerb = map[string]string{"st": "stlur", "ld": "ldapur"}

// pairs has the loads and stores of two registers. The fields mean the same as in singles.
var pairs = []struct {
	opc, v      uint32
	suffix, reg string
}{
	{0, 0, "", "W"},
	{1, 0, "sw", "X"},
	{2, 0, "", "X"},
	{0, 1, "", "S"},
	{1, 1, "", "D"},
	{2, 1, "", "Q"},
}

// atomic returns the table rows for exclusive loads and stores, for those with acquire or release semantics, and for
// LSE's read-modify-write instructions.
func atomic() []row {
	rows := []row{
		{0xbfe08000, 0x88000000, "stxr <Ws>, <Yt>, [<Xn|SP>]"},
		{0xbfe08000, 0x88008000, "stlxr <Ws>, <Yt>, [<Xn|SP>]"},
		{0xbfe08000, 0x88200000, "stxp <Ws>, <Yt>, <Yu>, [<Xn|SP>]"},
		{0xbfe08000, 0x88208000, "stlxp <Ws>, <Yt>, <Yu>, [<Xn|SP>]"},
		{0xbfe08000, 0x88400000, "ldxr <Yt>, [<Xn|SP>]"},
		{0xbfe08000, 0x88408000, "ldaxr <Yt>, [<Xn|SP>]"},
		{0xbfe08000, 0x88600000, "ldxp <Yt>, <Yu>, [<Xn|SP>]"},
		{0xbfe08000, 0x88608000, "ldaxp <Yt>, <Yu>, [<Xn|SP>]"},
		{0xbfe08000, 0x88800000, "stllr <Yt>, [<Xn|SP>]"},
		{0xbfe08000, 0x88808000, "stlr <Yt>, [<Xn|SP>]"},
		{0xbfe08000, 0x88c00000, "ldlar <Yt>, [<Xn|SP>]"},
		{0xbffffc00, 0x88dffc00, "ldar <Yt>, [<Xn|SP>]"},
		{0xbfe0fc00, 0x08207c00, "casp <pair s>, <pair t>, [<Xn|SP>]"},
		{0xbfe0fc00, 0x0820fc00, "caspl <pair s>, <pair t>, [<Xn|SP>]"},
		{0xbfe0fc00, 0x08607c00, "caspa <pair s>, <pair t>, [<Xn|SP>]"},
		{0xbfe0fc00, 0x0860fc00, "caspal <pair s>, <pair t>, [<Xn|SP>]"},
		{0x3fe0fc00, 0x08a07c00, "cas<width> <Ys>, <Yt>, [<Xn|SP>]"},
		{0x3fe0fc00, 0x08a0fc00, "casl<width> <Ys>, <Yt>, [<Xn|SP>]"},
		{0x3fe0fc00, 0x08e07c00, "casa<width> <Ys>, <Yt>, [<Xn|SP>]"},
		{0x3fe0fc00, 0x08e0fc00, "casal<width> <Ys>, <Yt>, [<Xn|SP>]"},
		{0x3ffffc00, 0x38bfc000, "ldapr<width> <Yt>, [<Xn|SP>]"},
		{0x3f20fc00, 0x38208000, "swp<order><width> <Ys>, <Yt>, [<Xn|SP>]"},
	}
	for _, w := range [...]struct {
		size uint32
		name string
	}{{0, "b"}, {1, "h"}} {
		base := w.size << 30
		rows = append(rows,
			row{0xffe08000, base | 0x08000000, "stxr" + w.name + " <Ws>, <Wt>, [<Xn|SP>]"},
			row{0xffe08000, base | 0x08008000, "stlxr" + w.name + " <Ws>, <Wt>, [<Xn|SP>]"},
			row{0xffe08000, base | 0x08400000, "ldxr" + w.name + " <Wt>, [<Xn|SP>]"},
			row{0xffe08000, base | 0x08408000, "ldaxr" + w.name + " <Wt>, [<Xn|SP>]"},
			row{0xffe08000, base | 0x08800000, "stllr" + w.name + " <Wt>, [<Xn|SP>]"},
			row{0xffe08000, base | 0x08808000, "stlr" + w.name + " <Wt>, [<Xn|SP>]"},
			row{0xffe08000, base | 0x08c00000, "ldlar" + w.name + " <Wt>, [<Xn|SP>]"},
			row{0xfffffc00, base | 0x08dffc00, "ldar" + w.name + " <Wt>, [<Xn|SP>]"})
	}
	for op, name := range [...]string{"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"} {
		base := 0x38200000 | uint32(op)<<12
		rows = append(rows,
			row{0x3fe0fc1f, base | 0x0000001f, "st" + name + "<width> <Ys>, [<Xn|SP>]"},
			row{0x3fe0fc1f, base | 0x0040001f, "st" + name + "l<width> <Ys>, [<Xn|SP>]"},
			row{0x3f20fc00, base, "ld" + name + "<order><width> <Ys>, <Yt>, [<Xn|SP>]"})
	}
	return rows
}
