package sdt

// The places of what is mapped, which are the same in every object. In the first segment addresses are offsets in the
// file. The second one is 64 kB higher, because pages of aarch64 may be so large.
const (
	headersAt  = 0x40 // of the program
	hashAt     = 0x120
	symbolsAt  = 0x138 // for the dynamic linker
	stringsAt  = 0x168
	relocsAt   = 0x190
	textsAt    = 0x220 // strings that JNI gets
	baseAt     = 0x3f8 // .stapsdt.base
	codeAt     = 0x400
	sitesAt    = 0x800
	codeEnd    = sitesAt + Sites*siteSize
	dataOffset = 0x5000 // in the file
	dataAt     = 0x10000 + dataOffset
	dynamicAt  = dataAt
	methodsAt  = dataAt + 0x100 // of type JNINativeMethod
	semaphores = dataAt + 0x200
	dataEnd    = semaphores + Sites*semaphoreSize
)

// These are offsets in the machine code.
const (
	semaphoresEntry = 0x80
	fireEntry       = 0xc0
)

// Sites is how many sites an object has.
const Sites = 2048

const (
	siteSize      = 8
	semaphoreSize = 4 // a tracer counts in the first two bytes; Java reads all
)

// What tracers read lies in one of two areas: a new list is written into the other one.
const (
	firstArea = 0x8000
	areaSize  = 0x140000 // for Sites probes with the longest names
)

// MaxValues is how many arguments a probe has at most.
const MaxValues = 8

// The class of gasm's agent whose native methods the object has.
const (
	SitesClass          = "java/lang/GasmSites"
	semaphoresSignature = "()Ljava/nio/ByteBuffer;"
	fireSignature       = "(IJJJJJJJJ" +
		"Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;" +
		"Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)V"
)
