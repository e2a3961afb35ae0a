/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Describes a session to a reader of a crash dump.  The module keeps these pages for each session
 * from session-set until the session's file is closed.  No program can map them.  "schedtape
 * recover --vmcore" looks for them in all of the memory, and finds the pages of the rings through
 * them.  Documentation/dump-format.rst is the manual of this file.
 *
 * A page is STAPE_PAGE_SIZE bytes in the byte order of the machine.  Addresses are physical.
 */
#ifndef _SCHEDTAPE_DUMP_H
#define _SCHEDTAPE_DUMP_H

#include <linux/types.h>
#include <schedtape/device.h>
#include <schedtape/event.h>

/* Incremented when a reader of today would misunderstand a page. */
#define STAPE_DUMP_VERSION	1

/* Random numbers. */
#define STAPE_DUMP_MAGIC_0	0x9d2c61f7b04e8a35ULL
#define STAPE_DUMP_MAGIC_1	0x53c4e9187fa602dbULL

enum stape_dump_kind {
	STAPE_DUMP_SESSION = 1,	/* struct stape_dump_session, one page a session */
	STAPE_DUMP_RING = 2,	/* struct stape_dump_ring, one or more pages a ring */
};

/**
 * struct stape_dump_header - how such a page begins
 * @magic: STAPE_DUMP_MAGIC_0 and _1; 0 when the session has ended
 * @version: STAPE_DUMP_VERSION
 * @kind: enum stape_dump_kind
 * @address: of this page, so that a copy of it is not taken for it
 * @load: a random number that the module drew when it was loaded
 * @loaded: when that was, ns of CLOCK_REALTIME
 * @session: the session's number in the netlink family
 * @reserved: 0
 */
struct stape_dump_header {
	__u64 magic[2];
	__u32 version;
	__u32 kind;
	__u64 address;
	__u64 load;
	__u64 loaded;
	__u32 session;
	__u32 reserved;
};

#define STAPE_DUMP_SAMPLES	4
#define STAPE_DUMP_TEXT		72

/* The session is in overwrite mode. */
#define STAPE_DUMP_OVERWRITE	0x1
/* Switches name system calls. */
#define STAPE_DUMP_SYSCALLS	0x2

/**
 * struct stape_dump_session - a session
 * @header: its kind is STAPE_DUMP_SESSION
 * @wire_version: STAPE_WIRE_VERSION of the module
 * @nr_cpus: CPU numbers are below this
 * @clock: enum stape_clock
 * @flags: STAPE_DUMP_*
 * @hz: the kernel's tick
 * @nr_samples: how many samples of the clocks were taken so far, modulo 2^32
 * @start_time: when recording started, ns of CLOCK_MONOTONIC; 0: it has not
 * @samples: the last ones; number n, counted from 0, is at index n % STAPE_DUMP_SAMPLES
 * @release: as uname -r prints it, with a 0 behind it
 * @kernel_version: uname -v
 * @machine: uname -m
 */
struct stape_dump_session {
	struct stape_dump_header header;
	__u32 wire_version;
	__u32 nr_cpus;
	__u32 clock;
	__u32 flags;
	__u32 hz;
	__u32 nr_samples;
	__u64 start_time;
	struct stape_clock_sample samples[STAPE_DUMP_SAMPLES];
	char release[STAPE_DUMP_TEXT];
	char kernel_version[STAPE_DUMP_TEXT];
	char machine[STAPE_DUMP_TEXT];
};

/* Addresses in one struct stape_dump_ring. */
#define STAPE_DUMP_LISTED	500

/**
 * struct stape_dump_ring - where the pages of a ring are
 * @header: its kind is STAPE_DUMP_RING
 * @cpu: the ring's CPU, or STAPE_CPU_NONE: the descriptions
 * @pages: pages of the ring, a power of two
 * @first: index in the ring of the first page that is listed here
 * @listed: how many are listed here
 * @producer: address of the ring's struct stape_ring_producer
 * @position: address of a 64-bit number.  Its low 12 bits are the offset in the open page where the
 *	next event goes; 0: the page is full, or none is open
 * @addresses: of the pages
 */
struct stape_dump_ring {
	struct stape_dump_header header;
	__u32 cpu;
	__u32 pages;
	__u32 first;
	__u32 listed;
	__u64 producer;
	__u64 position;
	__u64 addresses[STAPE_DUMP_LISTED];
};

#endif /* _SCHEDTAPE_DUMP_H */
