/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of new cgroups that pages of descriptions have (STAPE_SET_CGROUP), for a recorder: it
 * writes their paths to the tape in CGROUPS records.
 */
#ifndef SCHEDTAPE_TAPE_NAMES_H
#define SCHEDTAPE_TAPE_NAMES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct tape_names - reads the names
 * @each: called for each cgroup, with the id of the one that it is in
 * @id: of a cgroup whose name goes on in the next event, its first @n bytes are in @name
 */
struct tape_names {
	void (*each)(void *arg, uint64_t id, uint64_t parent, const char *name);
	void *arg;
	uint64_t id;
	size_t n;
	char name[NAME_MAX + 1];
};

/* Reads a page.  A corrupt one has none from where it is wrong. */
void tape_names_read(struct tape_names *names, const void *page);

#endif /* SCHEDTAPE_TAPE_NAMES_H */
