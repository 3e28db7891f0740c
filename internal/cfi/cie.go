package cfi

import (
	"bytes"
	"errors"
	"fmt"
)

// A cie is a common information entry (CIE): the part of the call frame information that many functions share.
type cie struct {
	err          error // why it can't be used
	encoding     byte  // how the addresses of its functions are encoded
	augmented    bool  // each FDE has augmentation data, which begins with the data's length
	signal       bool  // its functions are called by the kernel when a signal arrives
	codeAlign    uint64
	dataAlign    int64
	returnColumn byte   // the column (register number) of the return address
	instructions cursor // the first instructions of each function
}

// cie returns the CIE whose record is at an offset. If the record can't be used, the err field of the result says why.
// The second result is an error only if there are too many CIEs.
func (t *Table) cie(at uint32) (*cie, error) {
	if c := t.cies[at]; c != nil {
		return c, nil
	}
	if len(t.cies) >= maxCIEs {
		return nil, fmt.Errorf("its .eh_frame has more than %d CIEs", maxCIEs)
	}
	c := &cie{}
	c.err = c.parse(t, int(at))
	t.cies[at] = c
	return c, nil
}

// maxAugmentation is the maximum length of a CIE's augmentation string, in bytes. The longest one in use is "zPLRS".
const maxAugmentation = 8

func (c *cie) parse(t *Table, at int) error {
	id, end := t.record(at)
	if id == end {
		return errors.New("its CIE is not within the section")
	}
	in := cursor{data: t.data, pos: id, end: end}
	if in.sized(4) != 0 {
		return errors.New("its CIE is not a CIE")
	}
	version := in.u8()
	if version != 1 && version != 3 && version != 4 {
		return fmt.Errorf("its CIE has the version %d", version)
	}
	n := bytes.IndexByte(in.data[in.pos:min(in.end, in.pos+maxAugmentation+1)], 0)
	if n < 0 {
		return errors.New("its CIE has a long augmentation string")
	}
	augmentation := in.bytes(uint64(n))
	in.u8() // the 0 at its end
	if version == 4 && (in.u8() != 8 || in.u8() != 0) {
		return errors.New("its CIE has addresses that do not have 8 bytes")
	}
	c.codeAlign, c.dataAlign = in.uleb(), in.sleb()
	column := uint64(in.u8())
	if version > 1 {
		in.pos--
		column = in.uleb()
	}
	if column >= columns {
		return fmt.Errorf("its CIE has the return address in register %d", column)
	}
	c.returnColumn = byte(column)
	if err := c.augment(augmentation, &in); err != nil {
		return err
	}
	if in.bad {
		return errors.New("its CIE is cut off")
	}
	c.instructions = in
	return nil
}

// augment reads the augmentation data, which the letters of the augmentation describe (Linux Standard Base,
// "Augmentation String Format").
func (c *cie) augment(letters []byte, in *cursor) error {
	if len(letters) == 0 {
		return nil
	}
	if letters[0] != 'z' {
		return fmt.Errorf("its CIE has the augmentation %q", letters)
	}
	c.augmented = true
	length := in.uleb()
	data := *in
	if in.bytes(length); in.bad {
		return errors.New("its CIE is cut off")
	}
	data.end = in.pos
	for _, letter := range letters[1:] {
		switch letter {
		case 'L': // the encoding of pointers to data for exceptions
			data.u8()
		case 'P': // the function that handles exceptions
			if encoding := data.u8(); encoding&encodingRelative == alignedPointer {
				return errors.New("its CIE has an aligned pointer")
			} else {
				data.number(encoding)
			}
		case 'R':
			c.encoding = data.u8()
		case 'S':
			c.signal = true
		case 'B', 'G': // on aarch64: the return address is signed with key B; memory tagging
		default:
			return fmt.Errorf("its CIE has the augmentation %q", letters)
		}
	}
	if data.bad {
		return errors.New("its CIE has short augmentation data")
	}
	return nil
}
