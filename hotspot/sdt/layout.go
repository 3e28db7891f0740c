package sdt

// Addresses in the part of an object that the JVM maps. They are the same in every object. In the first segment, an
// address is also the offset in the file. In the second segment, an address is 64 kB higher than the offset, because
// pages of aarch64 may be that large.
const (
	headersAt  = 0x40 // the program headers
	hashAt     = 0x120
	symbolsAt  = 0x138 // symbols for the dynamic linker
	stringsAt  = 0x168
	relocsAt   = 0x190
	textsAt    = 0x220 // strings that are passed to JNI
	baseAt     = 0x3f8 // .stapsdt.base
	codeAt     = 0x400
	sitesAt    = 0x800
	codeEnd    = sitesAt + Sites*siteSize
	dataOffset = 0x5000 // offset of the second segment in the file
	dataAt     = 0x10000 + dataOffset
	dynamicAt  = dataAt
	methodsAt  = dataAt + 0x100 // a table of JNINativeMethod
	semaphores = dataAt + 0x200
	dataEnd    = semaphores + Sites*semaphoreSize
)

// Offsets in the machine code.
const (
	semaphoresEntry = 0x80
	fireEntry       = 0xc0
)

// Sites is the number of sites in an object.
const Sites = 2048

const (
	siteSize      = 8
	semaphoreSize = 4 // tracers use the first two bytes as a counter; Java reads all four
)

// The file has two areas for the sections that tracers read. At any time, one of them is in use. A new list of probes
// is written to the other area, so that tracers never read a list that is half written.
const (
	firstArea = 0x8000
	areaSize  = 0x140000 // enough for Sites probes with the longest names
)

// MaxValues is the maximum number of arguments of a probe.
const MaxValues = 8

// The agent's class whose native methods are in the shared object, and the signatures of these methods.
const (
	SitesClass          = "java/lang/GasmSites"
	semaphoresSignature = "()Ljava/nio/ByteBuffer;"
	fireSignature       = "(IJJJJJJJJ" +
		"Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;" +
		"Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)V"
)
