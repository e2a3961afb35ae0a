// SPDX-License-Identifier: GPL-2.0-only
#include "sample/open-files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/list.h"
#include "common/build-id.h"
#include "common/output.h"
#include "common/copy-file.h"
#include "sample/closed-files.h"
#include "sample/process-tree.h"

static const char deleted[] = " (deleted)";

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), len = strlen(end);

	return n >= len && !strcmp(text + n - len, end);
}

static int add_file(struct open_files *files, const char *path, const struct stat *st, bool written)
{
	struct open_file *file;
	size_t i;

	for (i = 0; i < files->n && strcmp(files->files[i].path, path); i++)
		;
	if (i == files->n) {
		file = schedtape_list_grow(files->files, files->n, &files->room, sizeof(*file));
		if (!file)
			return -ENOMEM;
		files->files = file;
		file += files->n;
		memset(file, 0, sizeof(*file));
		file->path = strdup(path);
		if (!file->path)
			return -ENOMEM;
		file->size = st->st_size;
		file->mtime_ns = st->st_mtim.tv_sec * 1000000000ULL + st->st_mtim.tv_nsec;
		files->n++;
	}
	file = &files->files[i];
	if (written && !file->written) {
		file->written = true;
		files->kept += st->st_blocks * 512ULL;
	}
	return 0;
}

/* @mode: how this descriptor is open, O_RDONLY, O_WRONLY or O_RDWR */
static int add_stream(struct open_files *files, const char *name, int fd, int mode)
{
	struct open_stream *stream;
	size_t i;

	for (i = 0; i < files->nr_streams && strcmp(files->streams[i].name, name); i++)
		;
	if (i == files->nr_streams) {
		stream = schedtape_list_grow(files->streams, i, &files->room_streams,
					     sizeof(*stream));
		if (!stream)
			return -ENOMEM;
		files->streams = stream;
		stream += i;
		memset(stream, 0, sizeof(*stream));
		stream->fd = fd;
		stream->name = strdup(name);
		if (!stream->name)
			return -ENOMEM;
		files->nr_streams++;
	}
	stream = &files->streams[i];
	if (fd < stream->fd)
		stream->fd = fd;
	stream->reads |= mode != O_WRONLY;
	stream->writes |= mode != O_RDONLY;
	return 0;
}

/* -- descriptors ----------------------------------------------------------- */

/* Returns the flags of a descriptor; -1: it is gone. */
static int flags_of(pid_t pid, const char *fd)
{
	unsigned int flags;
	char path[64], line[128];
	int found = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", pid, fd);
	file = fopen(path, "re");
	while (file && found < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "flags: %o", &flags) == 1)
			found = flags;
	if (file)
		fclose(file);
	return found;
}

static bool is_terminal(const char *link)
{
	return !strncmp(link, "/dev/pts/", strlen("/dev/pts/")) ||
	       !strncmp(link, "/dev/tty", strlen("/dev/tty")) || !strcmp(link, "/dev/console");
}

static int look_at_descriptor(struct open_files *files, pid_t pid, const char *fd)
{
	char path[64], link[PATH_MAX], name[64];
	struct stat st;
	ssize_t n;
	int flags;

	snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", pid, fd);
	n = readlink(path, link, sizeof(link) - 1);
	flags = flags_of(pid, fd);
	if (n < 0 || flags < 0 || stat(path, &st))
		return 0;
	link[n] = '\0';
	if (S_ISFIFO(st.st_mode) && !strncmp(link, "pipe:", strlen("pipe:")))
		return add_stream(files, link, atoi(fd), flags & O_ACCMODE);
	if (S_ISCHR(st.st_mode) && is_terminal(link)) {
		snprintf(name, sizeof(name), "tty[%" PRIx64 ":%" PRIx64 "]", (uint64_t)st.st_rdev,
			 (uint64_t)st.st_dev);
		return add_stream(files, name, atoi(fd), O_RDWR);
	}
	/* criu itself copies files without a name.  The kernel's have no contents to be kept. */
	if (!S_ISREG(st.st_mode) || *link != '/' || ends_with(link, deleted) || flags & O_PATH ||
	    !strncmp(link, "/proc/", 6) || !strncmp(link, "/sys/", 5))
		return 0;
	return add_file(files, link, &st, (flags & O_ACCMODE) != O_RDONLY);
}

static int look_at_descriptors(struct open_files *files, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!ret && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			ret = look_at_descriptor(files, pid, entry->d_name);
	closedir(dir);
	return ret;
}

/* -- mappings -------------------------------------------------------------- */

static int look_at_mappings(struct open_files *files, pid_t pid)
{
	char path[64], *line = NULL, mode[8], *name;
	size_t room = 0;
	int ret = 0, at;
	struct stat st;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && !ret && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*x-%*x %7s %*x %*x:%*x %*u %n", mode, &at) != 1)
			continue;
		name = line + at;
		if (*name != '/' || ends_with(name, deleted) || stat(name, &st) ||
		    !S_ISREG(st.st_mode))
			continue;
		ret = add_file(files, name, &st, mode[1] == 'w' && mode[3] == 's');
	}
	free(line);
	if (file)
		fclose(file);
	return ret;
}

/* -- streams from outside -------------------------------------------------- */

/* Returns true if a process has a descriptor of that name. */
static bool has_open(const char *pid, const char *name)
{
	char path[64], link[64];
	struct dirent *entry;
	bool found = false;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		found = !strcmp(link, name);
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * Returns true if a process that is not of the workload has the pipe open.  If none has, the other
 * end is closed for good, and what is in the pipe is all that will come.
 */
static bool is_shared(const char *name, const struct process_tree *processes)
{
	struct dirent *entry;
	bool found;
	DIR *proc;

	/* It is mostly one that the workload has from this process. */
	found = has_open("self", name);
	proc = found ? NULL : opendir("/proc");
	while (proc && !found && (entry = readdir(proc)))
		found = isdigit((unsigned char)*entry->d_name) &&
			!process_tree_has(processes, atoi(entry->d_name)) &&
			has_open(entry->d_name, name);
	if (proc)
		closedir(proc);
	return found;
}

/* Leaves out pipes that the workload shares with nobody: these criu restores. */
static void leave_out_inner(struct open_files *files, const struct process_tree *processes)
{
	size_t i, n = 0;

	for (i = 0; i < files->nr_streams; i++) {
		struct open_stream *stream = &files->streams[i];

		if (*stream->name == 'p' && ((stream->reads && stream->writes) ||
					     !is_shared(stream->name, processes)))
			free(stream->name);
		else
			files->streams[n++] = *stream;
	}
	files->nr_streams = n;
}

/* -- all of them ----------------------------------------------------------- */

static int add_closed(struct open_files *files, const char *path)
{
	size_t n = files->n;
	struct stat st;
	int ret;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	ret = add_file(files, path, &st, true);
	if (files->n > n)
		files->files[n].closed = true;
	return ret;
}

int open_files_find(struct open_files *files, const struct process_tree *processes,
		    const struct closed_files *closed)
{
	int ret = 0;
	size_t i;

	memset(files, 0, sizeof(*files));
	for (i = 0; i < processes->n && !ret; i++) {
		ret = look_at_descriptors(files, processes->pids[i]);
		if (!ret)
			ret = look_at_mappings(files, processes->pids[i]);
	}
	for (i = 0; i < closed->n && !ret; i++)
		ret = add_closed(files, closed->paths[i]);
	leave_out_inner(files, processes);
	return ret;
}

void open_files_free(struct open_files *files)
{
	while (files->n)
		free(files->files[--files->n].path);
	while (files->nr_streams)
		free(files->streams[--files->nr_streams].name);
	free(files->files);
	free(files->streams);
	memset(files, 0, sizeof(*files));
}

/* -- what becomes of them -------------------------------------------------- */

/* Makes the copy of the last checkpoint one of this one, too; false: the file has changed. */
static bool link_last(const struct open_file *file, const char *last, const char *to)
{
	char from[PATH_MAX];
	struct stat st;

	if (!file->closed ||
	    snprintf(from, sizeof(from), "%s%s", last, file->path) >= (int)sizeof(from) ||
	    stat(from, &st) || (uint64_t)st.st_size != file->size ||
	    st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec != file->mtime_ns)
		return false;
	return !copy_file_folders(file->path, to) && !link(from, to);
}

int open_files_keep(const struct open_files *files, const char *folder, const char *last,
		    struct schedtape_error *err)
{
	char to[PATH_MAX];
	size_t i;
	int ret;

	for (i = 0; i < files->n; i++) {
		const struct open_file *file = &files->files[i];

		if (!file->written)
			continue;
		ret = 0;
		if (snprintf(to, sizeof(to), "%s%s", folder, file->path) >= (int)sizeof(to))
			ret = -ENAMETOOLONG;
		else if (!link_last(file, last, to))
			ret = copy_file(file->path, to);
		if (ret)
			return schedtape_fail(err, ret, "%s cannot be copied: %s", file->path,
					      strerror(-ret));
	}
	return 0;
}

static struct json_object *describe_file(const struct open_file *file, bool kept)
{
	struct json_object *object = json_object_new_object();
	char id[BUILD_ID_LEN];

	json_object_object_add(object, "path", json_object_new_string(file->path));
	out_json_add_count(object, "size", file->size);
	out_json_add_count(object, "mtime_ns", file->mtime_ns);
	if (file->written)
		out_json_add_bool(object, "kept", kept);
	else if (build_id_read(file->path, id))
		json_object_object_add(object, "build_id", json_object_new_string(id));
	return object;
}

void open_files_describe(const struct open_files *files, bool kept, struct json_object *to)
{
	struct json_object *list = json_object_new_array(), *object;
	size_t i;

	for (i = 0; i < files->n; i++)
		json_object_array_add(list, describe_file(&files->files[i], kept));
	json_object_object_add(to, "files", list);
	list = json_object_new_array();
	for (i = 0; i < files->nr_streams; i++) {
		object = json_object_new_object();
		json_object_object_add(object, "name",
				       json_object_new_string(files->streams[i].name));
		out_json_add_count(object, "fd", files->streams[i].fd);
		out_json_add_bool(object, "input", files->streams[i].reads);
		json_object_array_add(list, object);
	}
	json_object_object_add(to, "streams", list);
}
