/*
 * A small disassembler plug-in for HotSpot, for gasm's tests. It uses GNU libopcodes.
 *
 *   gcc -O2 -shared -fPIC -o hsdis-amd64.so hsdis.c -lopcodes -lbfd
 *   LD_LIBRARY_PATH=. java -XX:+UnlockDiagnosticVMOptions -XX:+PrintAssembly ...
 *
 * HotSpot loads hsdis-<cpu>.so and calls decode_instructions_virtual with a
 * piece of code. The plug-in reports each instruction by two events, which are
 * named like XML elements: "insn" with the instruction's address, before its
 * text, and "/insn" with the address after the instruction. Text is written with
 * HotSpot's own printf. An address in an operand is an event as well ("addr"), so
 * that HotSpot can print a name for it; HotSpot returns NULL to leave the
 * printing to the plug-in. For "insn" it returns NULL if the plug-in is to go on.
 *
 * -XX:PrintAssemblyOptions=intel selects Intel syntax. gasm-code adds each
 * instruction's bytes after its text: "ret //c3".
 *
 * binutils before 2.39 has no styles: compile with -DNO_STYLES for it.
 */
#define PACKAGE "gasm-hsdis" /* bfd.h insists on these two */
#define PACKAGE_VERSION "1"

#include <dis-asm.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void *(*event_callback)(void *stream, const char *event, void *arg);
typedef int (*printf_callback)(void *stream, const char *format, ...);

struct job {
	struct disassemble_info info;
	event_callback event;
	void *event_stream;
	printf_callback print;
	void *print_stream;
};

static int put(struct job *job, const char *format, va_list args)
{
	char text[512];
	vsnprintf(text, sizeof text, format, args);
	return job->print(job->print_stream, "%s", text);
}

static int print_plain(void *stream, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = put(stream, format, args);
	va_end(args);
	return n;
}

#ifndef NO_STYLES
static int print_styled(void *stream, enum disassembler_style style, const char *format, ...)
{
	(void)style;
	va_list args;
	va_start(args, format);
	int n = put(stream, format, args);
	va_end(args);
	return n;
}
#endif

static void print_address(bfd_vma address, struct disassemble_info *info)
{
	struct job *job = info->stream;
	if (job->event(job->event_stream, "addr", (void *)(uintptr_t)address) == NULL)
		job->print(job->print_stream, "0x%llx", (unsigned long long)address);
}

/* An instruction that extends beyond the end of the code is not reported as an error. */
static void no_report(int status, bfd_vma address, struct disassemble_info *info)
{
	(void)status, (void)address, (void)info;
}

static void machine(struct disassemble_info *info)
{
#if defined(__aarch64__)
	info->arch = bfd_arch_aarch64;
	info->mach = bfd_mach_aarch64;
#else
	info->arch = bfd_arch_i386;
	info->mach = bfd_mach_x86_64;
#endif
	info->endian = info->endian_code = BFD_ENDIAN_LITTLE;
}

void *decode_instructions_virtual(uintptr_t start, uintptr_t end, unsigned char *code, uintptr_t length,
				  event_callback event, void *event_stream,
				  printf_callback print, void *print_stream, const char *options, int newline)
{
	struct job job = {.event = event, .event_stream = event_stream, .print = print, .print_stream = print_stream};
#ifdef NO_STYLES
	init_disassemble_info(&job.info, &job, print_plain);
#else
	init_disassemble_info(&job.info, &job, print_plain, print_styled);
#endif
	machine(&job.info);
	job.info.buffer = code;
	job.info.buffer_vma = start;
	job.info.buffer_length = length;
	job.info.print_address_func = print_address;
	job.info.memory_error_func = no_report;
	if (options != NULL && strstr(options, "intel") != NULL)
		job.info.disassembler_options = "intel";
	disassemble_init_for_target(&job.info);
	disassembler_ftype decode = disassembler(job.info.arch, 0, job.info.mach, NULL);
	if (decode == NULL)
		return (void *)start;

	int with_code = options != NULL && strstr(options, "gasm-code") != NULL;
	uintptr_t at = start;
	while (at < end && event(event_stream, "insn", (void *)at) == NULL) {
		int size = decode(at, &job.info);
		if (size <= 0) {
			print(print_stream, ".byte 0x%02x", code[at - start]);
			size = 1;
		}
		if (with_code) {
			print(print_stream, " //");
			for (int i = 0; i < size; i++)
				print(print_stream, "%02x", code[at - start + i]);
		}
		at += size;
		event(event_stream, "/insn", (void *)at);
		if (newline)
			print(print_stream, "\n");
	}
	return (void *)at;
}
