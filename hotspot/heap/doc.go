// Package heap reads Java objects in the memory of a running JVM: what a reference points to, the fields of an object,
// and strings.
//
// The JVM runs on meanwhile, and a collector may move an object while it is read. So each object is checked to be of
// the expected class, and what is read may be missing, but is rarely wrong. Where that matters, the caller compares it
// with something that it knows otherwise.
//
// # References
//
// With compressed references a field has 32 bits, which count in units of usually eight bytes from the heap's base
// (CompressedOops::decode). ZGC keeps colours in references. In the ZGC without generations these are bits of the address,
// and each object is mapped once for each colour (ZAddress::good). In the generational ZGC (JDK 21 and newer) they are
// the lowest 16 bits, and the address begins one bit above the bit that is set in the colour "remapped"
// (zAddress.inline.hpp, ZPointer::uncolor). A reference that has an old colour may point to where an object was before
// it was moved. gasm does not read the collector's tables of moved objects; what is there then has another class most
// of the time.
//
// # Fields
//
// HotSpot's tables do not say where the fields of Java's classes are. The class does: in an array with six numbers of 16
// bits for each field (fieldInfo.hpp in JDK 8 to 20), or in a compressed stream (JDK 21 and newer).
package heap
