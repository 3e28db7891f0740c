// Package heap reads Java objects in the memory of a running JVM: what a reference points to, the fields of an object,
// and strings.
//
// The JVM keeps running while gasm reads, and a collector may move an object in the meantime. So the class of each
// object is checked. A value may then be missing, but it is rarely wrong. Where a rare wrong value would do harm, the
// caller compares the value with what it knows from elsewhere.
//
// # References
//
// A compressed reference has 32 bits. It is a distance from the heap's base, usually in units of eight bytes
// (CompressedOops::decode). ZGC keeps colours in references. In the ZGC without generations these are bits of the
// address, and each object is mapped once for each colour (ZAddress::good). In the generational ZGC (JDK 21 and newer)
// they are the lowest 16 bits. On aarch64 the address is in the bits above them. On x86-64 it begins one bit above the
// bit that is set in the colour "remapped" (zAddress.inline.hpp, ZPointer::uncolor). A reference that has an old colour
// may point to where an object was before it was moved. gasm does not read the collector's tables of moved objects, so
// it reads at the old address. By then, an object of another class is usually there.
//
// # Fields
//
// HotSpot's tables do not say where the fields of Java's classes are. The class itself does: in an array with six
// numbers of 16 bits for each field (fieldInfo.hpp in JDK 8 to 20), or in a compressed stream (JDK 21 and newer).
package heap
