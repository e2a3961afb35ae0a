/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program criu, which writes processes to images and restores them.  It is run, not linked:
 * libcriu only starts this program and sends it the same options, is a package of its own in some
 * releases and a part of another in others, and would be one more thing to build with.
 */
#ifndef SCHEDTAPE_CRIU_H
#define SCHEDTAPE_CRIU_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CRIU_WORDS	128
#define CRIU_REASON_LEN	256
#define CRIU_VERSION_LEN	32
#define CRIU_STREAMS	64

/**
 * struct criu - a run of criu
 * @words: its command line, allocated
 * @log: the file with its messages
 * @broken: no memory for it, or too many words
 * @cgroup: folder of the cgroup that it enters, or NULL
 * @in_session: it is in this process's session, and in a group of its own
 * @streams: the descriptors that it inherits, one for each stream of the images
 * @terminal: its standard input, which takes the place of the workload's terminal; -1: none
 * @kept: a descriptor that criu inherits, or -1
 * @reason: after a failure, why, in criu's words
 */
struct criu {
	char *words[CRIU_WORDS + 1];
	size_t n;
	char *log;
	bool broken;
	const char *cgroup;
	bool in_session;
	int streams[CRIU_STREAMS];
	size_t nr_streams;
	int terminal;
	int kept;
	char reason[CRIU_REASON_LEN];
};

/*
 * Begins the command line.  @program: NULL: the one in the path; @action: "dump", "restore" or
 * "check"; @images: folder of the images; @work: folder for its other files, such as its log
 */
void criu_begin(struct criu *criu, const char *program, const char *action, const char *images,
		const char *work);
/* Adds a word. */
void criu_add(struct criu *criu, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Has criu inherit a descriptor in place of @name, which was outside at the dump.  criu opens it
 * anew, so a file would be written from its beginning.  criu_run() closes those above standard
 * error.
 */
void criu_add_stream(struct criu *criu, int stream, const char *name);
/*
 * Runs it, in a session or group of its own, so that a Ctrl-C does not end it half-way.  Returns 0,
 * or -errno with a @reason; -ENOENT: it is not installed.
 */
int criu_run(struct criu *criu);
/* Writes the first line that "criu --version" prints, without "Version: ".  Returns 0 or -errno. */
int criu_version(const char *program, char *version, size_t size);
void criu_end(struct criu *criu);

#endif /* SCHEDTAPE_CRIU_H */
