/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/schedtape: the data side of a session.  The netlink family
 * (schedtape/netlink.h) configures, starts and stops.
 *
 * open() makes a session, the last close() ends it.  After a session-set the
 * session has one ring per possible CPU, which mmap() shows at
 *
 *	cpu * ring_stride				struct stape_ring_consumer
 *	cpu * ring_stride + getpagesize()		struct stape_ring_producer
 *	cpu * ring_stride + 2 * getpagesize()		ring_pages pages
 *
 * Only the consumer's page may be mapped writable.  Page number n of a CPU's
 * stream lies at index n % ring_pages once @head > n, until the reader moves
 * @tail beyond it.  read() returns whole pages of any CPU and moves the same
 * @tail: use one of the two.  poll() says POLLIN when a ring has as many pages
 * as the session's watermark or the session has stopped, and POLLHUP when
 * the filter's last task is gone (of a filter that names processes and
 * threads only: others may get tasks at any time).
 *
 * CPUs that session-set's mask leaves out have no ring: mmap() of theirs
 * fails with ENXIO.  In overwrite mode a ring keeps its newest pages: they may
 * be read once the session has stopped, from @tail on, which the stop sets.
 *
 * All fields have a fixed size and no hidden padding: 32-bit programs on a
 * 64-bit kernel use the same calls.
 */
#ifndef _SCHEDTAPE_DEVICE_H
#define _SCHEDTAPE_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The reader's half of a ring: its own page, writable by the reader. */
struct stape_ring_consumer {
	__u64 tail;	/* pages consumed; load-acquire'd by the module */
};

/* The module's half of a ring: read-only for user space. */
struct stape_ring_producer {
	__u64 head;	/* pages published; store-released by the module */
	__u64 events;	/* events in those pages */
	__u64 lost;	/* events lost so far, those after @head included */
	__u64 lost_first;	/* time of the first of all lost ones, 0: none */
	__u64 lost_last;	/* time of the last of all lost ones */
	__u64 overwritten;	/* events overwritten unread, in overwrite mode */
};

/**
 * struct stape_session_info - what a recorder has to know of its session
 * @id: the session's number in the netlink family
 * @wire_version: STAPE_WIRE_VERSION of the module
 * @page_size: STAPE_PAGE_SIZE of the module
 * @nr_cpus: rings, one per possible CPU; CPUs are numbered below this
 * @ring_pages: pages in a ring, 0 before the session is configured
 * @reserved: 0
 * @ring_stride: distance of two CPUs in mmap() offsets, bytes
 */
struct stape_session_info {
	__u32 id;
	__u32 wire_version;
	__u32 page_size;
	__u32 nr_cpus;
	__u32 ring_pages;
	__u32 reserved;
	__u64 ring_stride;
};

/**
 * struct stape_replay_setup - makes this session's replay
 * @nr_players: players, numbered from 0
 * @nr_edges: waker-wakee pairs
 * @edges: user pointer to nr_edges times __u32: the player that the edge wakes
 * @wakers: user pointer to nr_edges times __u32: the player that wakes along the
 *	edge; 0: not told.  Whoever is held up by a player that waits can then let
 *	the right one run
 * @fd: returned: the players' file, for STAPE_IOC_JOIN, STAPE_IOC_STEP, and
 *	mmap() (read-only): an array of nr_players times __u64, by player; a
 *	running player's CPU time since it joined is CLOCK_MONOTONIC minus its
 *	word, if the word is the same before and after the look at the clock.
 *	A word more, behind them: the replay's speed, as STAPE_A_REPLAY_SPEED has
 *	it, 0: it is paused, and who plays makes STAPE_IOC_HOLD
 * @id: returned: the replay's number in the netlink family
 *
 * When the session's file closes, the replay ends and its players are killed.
 */
struct stape_replay_setup {
	__u32 nr_players;
	__u32 nr_edges;
	__u64 edges;
	__u64 wakers;
	__s32 fd;
	__u32 id;
};

/**
 * struct stape_clock_sample - one instant by several clocks
 * @counter: the session's clock
 * @mono: CLOCK_MONOTONIC, ns
 * @boot: CLOCK_BOOTTIME, ns
 * @real: CLOCK_REALTIME, ns
 * @khz: ticks of @counter in a ms, as the kernel has calibrated it; 1000000: ns
 * @unstable: the kernel has found the counter to be unfit as a clock
 */
struct stape_clock_sample {
	__u64 counter;
	__u64 mono;
	__u64 boot;
	__u64 real;
	__u32 khz;
	__u32 unstable;
};

/**
 * struct stape_stream - a file to wait at for some CPUs' rings only
 * @cpus: user pointer to a mask: bit n%8 of byte n/8 is CPU n
 * @bytes: of the mask
 * @fd: returned: for poll(), as the session's own but for these CPUs; a ring
 *	wakes the last stream that was made for it
 *
 * Before session-start only.  The session lives as long as its streams.
 */
struct stape_stream {
	__u64 cpus;
	__u32 bytes;
	__s32 fd;
};

/* How a step ends. */
enum stape_wait {
	STAPE_WAIT_NONE = 0,	/* not at all: only the wake-ups */
	STAPE_WAIT_EDGE = 1,	/* one wake-up along edge @value */
	STAPE_WAIT_UNTIL = 2,	/* @value ns after the replay's start, by its own time */
	STAPE_WAIT_DONE = 3,	/* the program's end; @value: 0 */
	STAPE_WAIT_FOR = 4,	/* @value ns from now on, or from the start if that is to come */
};

/* Flags of a step. */
#define STAPE_STEP_BLOCKED	0x1	/* wait in state D: only a fatal signal interrupts it */

#define STAPE_STEP_MAX_WAKES	64
#define STAPE_STEP_MAX_NEXT	4

/**
 * struct stape_step - what a player does between two stretches of CPU time
 * @player: number that this thread has joined with
 * @index: steps before this one; a step that a signal interrupted is repeated
 *	with its index and wakes nobody twice
 * @wakes: user pointer to @nr_wakes + @nr_next times __u32, edges to wake along, in order
 * @nr_wakes: at most STAPE_STEP_MAX_WAKES
 * @wait: enum stape_wait
 * @flags: STAPE_STEP_*
 * @value: as @wait says, ns of the replay's time
 * @slack: CPU time that what the player does next makes up for, ns: it may use that
 *	up, but no more than 1 s, until those whom it wakes are in their waits, before it
 *	sleeps for them
 * @nr_next: at most STAPE_STEP_MAX_NEXT: not yet to be woken, but after the wait; an
 *	instant that ends it is put off a little if they are not in their waits by then, nor
 *	those whom they wake next
 * @reserved: 0
 */
struct stape_step {
	__u32 player;
	__u32 nr_wakes;
	__u64 index;
	__u64 wakes;
	__u32 wait;
	__u32 flags;
	__u64 value;
	__u64 slack;
	__u32 nr_next;
	__u32 reserved;
};

#define STAPE_IOC_MAGIC		0xE5
#define STAPE_IOC_INFO		_IOR(STAPE_IOC_MAGIC, 0x00, struct stape_session_info)
#define STAPE_IOC_FLUSH		_IO(STAPE_IOC_MAGIC, 0x01)
#define STAPE_IOC_CLOCK		_IOR(STAPE_IOC_MAGIC, 0x02, struct stape_clock_sample)
#define STAPE_IOC_STREAM	_IOWR(STAPE_IOC_MAGIC, 0x03, struct stape_stream)
#define STAPE_IOC_REPLAY	_IOWR(STAPE_IOC_MAGIC, 0x10, struct stape_replay_setup)
#define STAPE_IOC_JOIN		_IOW(STAPE_IOC_MAGIC, 0x20, __u32)
#define STAPE_IOC_STEP		_IOW(STAPE_IOC_MAGIC, 0x21, struct stape_step)
#define STAPE_IOC_HOLD		_IOW(STAPE_IOC_MAGIC, 0x22, __u32)

#endif /* _SCHEDTAPE_DEVICE_H */
