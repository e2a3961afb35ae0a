/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffer of a BPF program, which another program has loaded and pinned: each of its
 * records is a trigger.
 */
#ifndef SCHEDTAPE_BPF_RING_H
#define SCHEDTAPE_BPF_RING_H

#include <stddef.h>

#include <schedtape.h>

/* Of a record no more bytes are written as a text. */
#define BPF_RING_BYTES		1024
/* "0x", and two digits for each of them */
#define BPF_RING_TEXT_LEN	(2 + 2 * BPF_RING_BYTES + 1)

struct bpf_ring;

/*
 * Opens the ring buffer that is pinned at @path.  @found is called for each record with @arg.
 * Records that are in the buffer already are dropped.  Returns 0; -EINVAL: it is no ring buffer; or
 * -errno.
 */
int bpf_ring_open(struct bpf_ring **ring, const char *path,
		  void (*found)(void *arg, const void *record, size_t bytes), void *arg,
		  struct schedtape_error *err);
/* Returns a file that is readable when there are records. */
int bpf_ring_fd(const struct bpf_ring *ring);
/*
 * Takes records out of the buffer, which no other program may read.  If there are many, the file is
 * readable again.
 */
void bpf_ring_take(struct bpf_ring *ring);
/* @ring may be NULL. */
void bpf_ring_close(struct bpf_ring *ring);
/*
 * Writes a record as a text: as it is, or, if it is none, its bytes as a hexadecimal number.  A
 * line's end is left out, and so are zeros at the end: a program's text may be in an array.
 */
void bpf_ring_text(char text[BPF_RING_TEXT_LEN], const unsigned char *record, size_t bytes);

#endif /* SCHEDTAPE_BPF_RING_H */
