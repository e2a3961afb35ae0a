// SPDX-License-Identifier: GPL-2.0-only
/*
 * slow.bpf - let a recorder keep what came before a call of a function
 *
 *	clang -O2 -g -target bpf -I/usr/include/$(gcc -print-multiarch) -c slow.bpf.c
 *
 * slow.c loads it.  Each call of the two functions puts a record into a ring buffer, and each
 * record is a trigger of "schedtape record -M 64M --trigger bpf:/sys/fs/bpf/slow".
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* A function of the kernel, and one of a program.  Choose others with -D. */
#ifndef KERNEL
#define KERNEL	"out_of_memory"
#endif
#ifndef USER
#define USER	"/usr/sbin/nginx:ngx_http_finalize_request"
#endif

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} slow SEC(".maps");

/* A snapshot has its record as a note: a text, as here, or any other bytes. */
struct note {
	char text[32];
};

SEC("kprobe/" KERNEL)
int in_kernel(void *regs)
{
	struct note note = { "the kernel is in " KERNEL "()" };

	bpf_ringbuf_output(&slow, &note, sizeof(note), 0);
	return 0;
}

SEC("uprobe/" USER)
int in_program(void *regs)
{
	struct note note = { "called by " };

	bpf_get_current_comm(note.text + 10, 16);
	bpf_ringbuf_output(&slow, &note, sizeof(note), 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
