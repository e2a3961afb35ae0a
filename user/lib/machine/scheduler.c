// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define TRIES	3	/* to read files while schedulers come and go */

static int open_file(const struct schedtape_watch *watch, const char *name)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", watch->root, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the first line.  sysfs makes the text anew for each read from offset 0. */
static bool read_line(int fd, char *line, size_t size)
{
	ssize_t n = pread(fd, line, size - 1, 0);

	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return n > 0;
}

static bool read_number(int fd, uint64_t *number)
{
	char line[32];

	if (!read_line(fd, line, sizeof(line)))
		return false;
	*number = strtoull(line, NULL, 10);
	return true;
}

static bool read_named(const struct schedtape_watch *watch, const char *name, char *line,
		       size_t size)
{
	int fd = open_file(watch, name);
	bool ok = fd >= 0 && read_line(fd, line, size);

	if (fd >= 0)
		close(fd);
	if (!ok)
		line[0] = '\0';
	return ok;
}

static ino_t find_folder(const struct schedtape_watch *watch)
{
	char path[PATH_MAX + 16];
	struct stat st;

	snprintf(path, sizeof(path), "%s/root", watch->root);
	return stat(path, &st) ? 0 : st.st_ino;
}

static bool is(const struct schedtape_scheduler *scheduler, const char *state)
{
	return !strcmp(scheduler->state, state);
}

static void set_state(struct schedtape_scheduler *scheduler, const char *state)
{
	snprintf(scheduler->state, sizeof(scheduler->state), "%s", state);
}

void schedtape_watch_open(struct schedtape_watch *watch, const char *root)
{
	*watch = (struct schedtape_watch) { .state_fd = -1, .seq_fd = -1, .counted = true };
	snprintf(watch->root, sizeof(watch->root), "%s", root);
	watch->seq_fd = open_file(watch, "enable_seq");
	if (watch->seq_fd >= 0)
		watch->state_fd = open_file(watch, "state");
}

void schedtape_watch_close(struct schedtape_watch *watch)
{
	if (watch->state_fd >= 0)
		close(watch->state_fd);
	if (watch->seq_fd >= 0)
		close(watch->seq_fd);
	watch->state_fd = -1;
	watch->seq_fd = -1;
}

/* Finds out why there is nothing to watch: an old kernel, or a sysfs that is not mounted. */
static void see_nothing(const struct schedtape_watch *watch, struct schedtape_scheduler *seen)
{
	char parent[PATH_MAX];
	char *end;

	snprintf(parent, sizeof(parent), "%s", watch->root);
	end = strrchr(parent, '/');
	if (end)
		*end = '\0';
	set_state(seen, !access(parent, F_OK) && access(watch->root, F_OK) && errno == ENOENT ?
		  "none" : "unknown");
}

static void see_brief(const struct schedtape_watch *watch, struct schedtape_scheduler *seen)
{
	if (!read_line(watch->state_fd, seen->state, sizeof(seen->state)) ||
	    !read_number(watch->seq_fd, &seen->enable_seq)) {
		set_state(seen, "unknown");
		seen->enable_seq = watch->now.enable_seq;
	}
	/*
	 * The kernel counts a scheduler a moment after it has enabled it.  Report it as
	 * "enabling" until it is counted, because the next look would see a second change.
	 */
	if (is(seen, "enabled") && !watch->counted && seen->enable_seq == watch->now.enable_seq)
		set_state(seen, "enabling");
}

static bool same(const struct schedtape_scheduler *a, const struct schedtape_scheduler *b)
{
	return a->enable_seq == b->enable_seq && is(a, b->state);
}

/* Reads all files, and again if something has changed meanwhile, so that they are consistent. */
static void see_all(const struct schedtape_watch *watch, struct schedtape_scheduler *seen)
{
	struct schedtape_scheduler again = { 0 };
	char line[32];
	int i;

	for (i = 0; i < TRIES; i++) {
		/* The name is there from before a scheduler is on until after it is off. */
		read_named(watch, "root/ops", seen->ops, sizeof(seen->ops));
		seen->switch_all = read_named(watch, "switch_all", line, sizeof(line)) &&
				   atoi(line);
		seen->nr_rejected = read_named(watch, "nr_rejected", line, sizeof(line)) ?
				    strtoull(line, NULL, 10) : 0;
		see_brief(watch, &again);
		if (same(seen, &again))
			break;
		set_state(seen, again.state);
		seen->enable_seq = again.enable_seq;
	}
	if (is(seen, "disabled")) {
		seen->ops[0] = '\0';
		seen->switch_all = false;
	}
}

/*
 * The first look accepts a scheduler that is enabled, counted or not.  If the kernel counts
 * the same one later, this is not a change: @seen was right from the start.
 */
static bool was_too_early(const struct schedtape_watch *watch,
			  const struct schedtape_scheduler *seen, ino_t folder)
{
	return !watch->now.after && is(&watch->now, "enabled") && is(seen, "enabled") &&
	       seen->enable_seq == watch->now.enable_seq + 1 && folder && folder == watch->folder;
}

/* Stores the result of a look. */
static void take(struct schedtape_watch *watch, struct schedtape_scheduler *seen, ino_t folder)
{
	seen->after = watch->began;
	if (watch->began && was_too_early(watch, seen, folder))
		seen->after = 0;
	seen->time = schedtape_now();
	/* A look that failed has no count. */
	if (!is(seen, "unknown"))
		watch->counted = is(seen, "enabled");
	watch->now = *seen;
	watch->folder = folder;
}

static bool look(struct schedtape_watch *watch, bool all)
{
	struct schedtape_scheduler seen = { 0 };
	uint64_t began = schedtape_now();
	bool first = !watch->began, is_new = first;
	ino_t folder = 0;

	if (schedtape_watch_lives(watch)) {
		see_brief(watch, &seen);
		if (first || all || !same(&seen, &watch->now)) {
			see_all(watch, &seen);
			folder = find_folder(watch);
		}
		is_new = first || !same(&seen, &watch->now) ||
			 (all && seen.nr_rejected > watch->now.nr_rejected);
	} else if (first) {
		see_nothing(watch, &seen);
	}
	if (is_new)
		take(watch, &seen, folder);
	watch->began = began;
	return is_new;
}

bool schedtape_watch_look(struct schedtape_watch *watch)
{
	return look(watch, false);
}

bool schedtape_watch_end(struct schedtape_watch *watch)
{
	return look(watch, true);
}
