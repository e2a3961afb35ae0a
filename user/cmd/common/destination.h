/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a command writes its tape or page: what -o FILE names.
 */
#ifndef SCHEDTAPE_DESTINATION_H
#define SCHEDTAPE_DESTINATION_H

#include <argp.h>
#include <json-c/json.h>
#include <schedtape.h>
#include <stdbool.h>

/*
 * Returns the path that @name stands for, which the caller frees, or NULL after setting @err:
 * nothing can be written there.  Slashes at the end are removed, and symbolic links followed, so
 * that the link stays when its target is renamed.  "-" is standard output, also if @name is
 * /dev/stdout or another name of the same pipe; "/dev/fd/N" is another open descriptor.
 */
char *destination_find(const char *name, struct schedtape_error *err);
/* Sets *path, which is NULL or of an earlier option, to that.  An error ends the process. */
void destination_option(char **path, const char *name, const struct argp_state *state);
/* Returns true for descriptors, pipes and devices: they are neither renamed nor read again. */
bool destination_is_stream(const char *path);
/*
 * Creates a tape as tape_writer_create() does.  Opens a FIFO when a process reads it.  Returns 0 or
 * -errno; -EINTR: a signal that ends the command has come before, see signals_pending()
 */
int destination_create(const char *path, struct json_object *meta,
		       const struct schedtape_writer_options *options,
		       struct schedtape_writer **writer, struct schedtape_error *err);

#endif /* SCHEDTAPE_DESTINATION_H */
