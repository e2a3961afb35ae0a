/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/schedtape: the data side of a session.  The netlink family
 * (schedtape/netlink.h) configures, starts and stops.
 *
 * open() makes a session, the last close() ends it.  After a session-set the
 * session has one ring per possible CPU, and one of descriptions, which says what tasks
 * are, whichever CPU they are on.  mmap() maps ring n at
 *
 *	n * ring_stride				struct stape_ring_consumer
 *	n * ring_stride + getpagesize()		struct stape_ring_producer
 *	n * ring_stride + 2 * getpagesize()	ring_pages pages
 *
 * where n is the number of a CPU, or nr_cpus for the descriptions, which have
 * description_pages instead of ring_pages.
 *
 * Only the consumer's page may be mapped writable.  Page number n of a CPU's
 * stream lies at index n % ring_pages once @head > n, until the reader moves
 * @tail beyond it.  read() returns whole pages of any CPU and moves the same
 * @tail: use one of the two.  poll() returns POLLIN when a ring has as many pages
 * as the session's watermark, the descriptions have filled a quarter of their
 * ring, or the session has stopped.  It returns POLLHUP when
 * the filter's last task is gone, but only if the filter names processes and
 * threads only, because another filter may get tasks at any time.
 *
 * A CPU that session-set's mask leaves out has no ring, and mmap() of it
 * fails with ENXIO.  In overwrite mode a CPU's ring keeps its newest pages, and @tail
 * stays 0 until the session stops, which sets it to the first page that is left.  Then
 * read() has them, too.  Before that a reader of the mapping may copy pages while they
 * may be overwritten.  Page n, below @head, was whole if the following holds for @head as
 * it is after the copy, and after a barrier that orders these reads:
 *
 *	head - n < ring_pages
 *
 * Descriptions are never overwritten, and are read while the session records.
 * STAPE_IOC_FLUSH publishes the pages that are not full, of all rings, with all events from before
 * the call.  It interrupts the session's CPUs, so the next call waits for the next tick.  In
 * overwrite mode each of these pages takes the room of a whole page.
 *
 * All fields have a fixed size and no hidden padding: 32-bit programs on a
 * 64-bit kernel use the same calls.  struct stape_stream and struct
 * stape_replay_setup may grow at their ends, and their size is a part of the
 * ioctl's number.  The module takes any size from the first version's on: fields
 * that the caller does not have are 0, and fields that the module does not know
 * must be 0, or the call fails with E2BIG.
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
	__u64 lost;	/* events lost so far, also after the last page */
	__u64 lost_first;	/* time of the first lost event, 0: none */
	__u64 lost_last;	/* time of the last lost event */
	__u64 overwritten;	/* events overwritten before they were read */
};

/**
 * struct stape_session_info - what a recorder needs to know about its session
 * @id: the session's number in the netlink family
 * @wire_version: STAPE_WIRE_VERSION of the module
 * @page_size: STAPE_PAGE_SIZE of the module
 * @nr_cpus: CPU numbers are below this
 * @ring_pages: pages in a CPU's ring, 0 before the session is configured
 * @description_pages: pages in the ring of descriptions, the same
 * @ring_stride: distance of two rings in mmap() offsets, bytes
 */
struct stape_session_info {
	__u32 id;
	__u32 wire_version;
	__u32 page_size;
	__u32 nr_cpus;
	__u32 ring_pages;
	__u32 description_pages;
	__u64 ring_stride;
};

/*
 * The replay has several rounds.  When each player has ended its program,
 * STAPE_IOC_REWIND begins the next one: the replay is as new, but keeps its number,
 * its speed and its monitor.  Until then replay-set sets the speed of the next
 * round, and replay-stop has STAPE_IOC_REWIND fail with ECANCELED.
 */
#define STAPE_REPLAY_ROUNDS	0x1

/**
 * struct stape_replay_setup - makes this session's replay
 * @nr_players: players, numbered from 0
 * @nr_edges: waker-wakee pairs
 * @edges: user pointer to nr_edges times __u32: the player that the edge wakes
 * @wakers: user pointer to nr_edges times __u32: the player that wakes along the
 *	edge, so that a player in a rendezvous can let the right one run; 0: unknown
 * @fd: returned: the players' file, for STAPE_IOC_JOIN, STAPE_IOC_STEP, and
 *	mmap() (read-only): an array of nr_players times __u64, by player; a
 *	running player's CPU time since it joined is CLOCK_MONOTONIC minus its
 *	word, if the word is the same before and after the clock is read.
 *	One more word follows: the replay's speed, as in STAPE_A_REPLAY_SPEED, or
 *	0 while the replay is paused: each player then calls STAPE_IOC_HOLD
 * @id: returned: the replay's number in the netlink family
 * @flags: STAPE_REPLAY_*
 * @reserved: 0
 * @turns: how many players there are in all, if numbers are used again (see struct stape_join);
 *	0: nr_players
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
	__u32 flags;
	__u32 reserved;
	__u64 turns;
};

/**
 * struct stape_clock_sample - several clocks, read at the same time
 * @counter: the session's clock
 * @mono: CLOCK_MONOTONIC, ns
 * @boot: CLOCK_BOOTTIME, ns
 * @real: CLOCK_REALTIME, ns
 * @khz: ticks of @counter per ms, as calibrated by the kernel; 1000000: ns
 * @unstable: the kernel has marked the counter as unusable as a clock
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
 * struct stape_stream - a file to poll() some of the rings only
 * @cpus: user pointer to a mask: bit n%8 of byte n/8 is CPU n; bit nr_cpus is the
 *	descriptions
 * @bytes: size of the mask
 * @fd: returned: for poll(), as the session's file, but for these rings only; a
 *	ring wakes the newest stream that has it
 *
 * To be called before session-start.  The session lives as long as its streams.
 */
struct stape_stream {
	__u64 cpus;
	__u32 bytes;
	__s32 fd;
};

/**
 * struct stape_join - makes the calling thread a player, with a number that others had before
 * @player: its number
 * @turn: how many players with that number end their programs before this one joins: it
 *	waits for them.  STAPE_IOC_JOIN is turn 0
 */
struct stape_join {
	__u32 player;
	__u32 turn;
};

/* How a step ends. */
enum stape_wait {
	STAPE_WAIT_NONE = 0,	/* no wait: only the wake-ups */
	STAPE_WAIT_EDGE = 1,	/* one wake-up along an edge: the lower half of @value.  The
				 * upper half: the player that wakes along it from now on,
				 * plus 1; 0: the same as before
				 */
	STAPE_WAIT_UNTIL = 2,	/* until @value ns of the replay's time after its start */
	STAPE_WAIT_DONE = 3,	/* the program's end; @value: 0; see below */
	STAPE_WAIT_FOR = 4,	/* @value ns from now, or from the start if that is later */
};

/*
 * The step with STAPE_WAIT_DONE is the player's last.  If its thread is the only one of its
 * process, the module makes the wake-ups of that step when the process exits or joins again.
 */

/* Flags of a step. */
#define STAPE_STEP_BLOCKED	0x1	/* wait in state D: only a fatal signal interrupts it */

#define STAPE_STEP_MAX_WAKES	64
#define STAPE_STEP_MAX_NEXT	4

/**
 * struct stape_step - what a player does between two bursts
 * @player: number that this thread has joined with
 * @index: number of steps before this one; a step that a signal interrupted is repeated
 *	with its index, and wakes no player twice
 * @wakes: user pointer to @nr_wakes + @nr_next times __u32, edges to wake along, in order
 * @nr_wakes: at most STAPE_STEP_MAX_WAKES
 * @wait: enum stape_wait
 * @flags: STAPE_STEP_*
 * @value: its meaning depends on @wait; times in ns of the replay's time
 * @slack: CPU time, ns, 1 s at most, that the player may spend on yielding until its
 *	wakees are in their waits, because its next bursts make up for it; after that it
 *	sleeps until they are
 * @nr_next: at most STAPE_STEP_MAX_NEXT: edges to wake along after the wait; the wait's
 *	expiry is delayed a little if these wakees, or the players that they wake next, are
 *	not in their waits by then
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
#define STAPE_IOC_REWIND	_IO(STAPE_IOC_MAGIC, 0x11)
#define STAPE_IOC_JOIN		_IOW(STAPE_IOC_MAGIC, 0x20, __u32)
#define STAPE_IOC_STEP		_IOW(STAPE_IOC_MAGIC, 0x21, struct stape_step)
#define STAPE_IOC_HOLD		_IOW(STAPE_IOC_MAGIC, 0x22, __u32)
#define STAPE_IOC_JOIN_TURN	_IOW(STAPE_IOC_MAGIC, 0x23, struct stape_join)

#endif /* _SCHEDTAPE_DEVICE_H */
