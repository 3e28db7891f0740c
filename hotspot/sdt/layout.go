package sdt

// Addresses of what is mapped, which are the same in every object. In the first segment, addresses are also offsets in
// the file. The second segment is 64 kB higher, because pages of aarch64 may be that large.
const (
	headersAt  = 0x40 // of the program headers
	hashAt     = 0x120
	symbolsAt  = 0x138 // for the dynamic linker
	stringsAt  = 0x168
	relocsAt   = 0x190
	textsAt    = 0x220 // strings that are passed to JNI
	baseAt     = 0x3f8 // .stapsdt.base
	codeAt     = 0x400
	sitesAt    = 0x800
	codeEnd    = sitesAt + Sites*siteSize
	dataOffset = 0x5000 // in the file
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
	semaphoreSize = 4 // tracers count in the first two bytes; Java reads all four
)

// The sections that tracers read lie in one of two areas. A new list is written to the area that is not in use.
const (
	firstArea = 0x8000
	areaSize  = 0x140000 // for Sites probes with the longest names
)

// MaxValues is the largest number of arguments of a probe.
const MaxValues = 8

// The class of gasm's agent whose native methods the object has.
const (
	SitesClass          = "java/lang/GasmSites"
	semaphoresSignature = "()Ljava/nio/ByteBuffer;"
	fireSignature       = "(IJJJJJJJJ" +
		"Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;" +
		"Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)V"
)
