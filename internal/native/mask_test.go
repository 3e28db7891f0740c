package native

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAddressMask(t *testing.T) {
	const signed = 0x20_ffff_90b3_67ec // seen on aarch64: a return address into libjvm, with its signature
	r := NewResolver()
	assert.EqualValues(t, uint64(signed), signed&AddressMask(r.Highest(7)), "nothing is known")
	r.Add(Mapping{PID: 7, Lo: 0xaaaa_0000_0000, Hi: 0xaaaa_0000_1000, Path: "/usr/bin/java", Inode: 1})
	r.Add(Mapping{PID: 8, Lo: 0x40_0000, Hi: 0x7f_ffff_f000, Path: "/usr/bin/java", Inode: 1})
	assert.EqualValues(t, 0xffff_90b3_67ec, signed&AddressMask(r.Highest(7)))
	assert.EqualValues(t, 1<<39-1, AddressMask(r.Highest(8)))
	assert.EqualValues(t, 1<<48-1, AddressMask(1<<47))
}
