package unsigned5

// Append appends a number to data, encoded as in a JDK's feature release (UNSIGNED5::write_uint). Only tests use it.
func Append(data []byte, n uint32, release int) []byte {
	excluded, low := uint32(0), uint32(192) // low is the number of values that a last byte can have
	if release >= 20 {
		excluded, low = 1, 191
	}
	for i := range 5 {
		if n < low || i == 4 {
			return append(data, byte(n+excluded))
		}
		n -= low
		data = append(data, byte(low+excluded+n%64))
		n /= 64
	}
	return data
}
