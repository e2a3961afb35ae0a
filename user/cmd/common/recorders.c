// SPDX-License-Identifier: GPL-2.0-only
#include "common/recorders.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/error.h"
#include "common/output.h"
#include "common/select.h"

#define SUFFIX		".sock"
#define NAME_MAX_LEN	64
#define KNOWN_SECONDS	2	/* for a recorder to answer, which may write a snapshot now */

/* -- names ----------------------------------------------------------------- */

bool recorders_valid(const char *name)
{
	size_t i, length = strlen(name);

	if (strchr(name, '/'))
		return name[length - 1] != '/';
	for (i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			return false;
	return length && length <= NAME_MAX_LEN && *name != '.';
}

bool recorders_is_pid(const char *name)
{
	return *name && !name[strspn(name, "0123456789")];
}

/**
 * struct printed - the search for a recorder by its PID, or by "NAME:PID" of "schedtape list"
 */
struct printed {
	const char *text;
	char name[NAME_MAX_LEN + 1];
};

static bool find_printed(void *arg, const char *name, pid_t pid)
{
	struct printed *printed = arg;
	const char *shown = recorders_is_pid(name) ? "schedtape" : name;
	bool by_pid = recorders_is_pid(printed->text) && atol(printed->text) == pid;

	if (!by_pid && !select_is_name(printed->text, shown, pid))
		return true;
	snprintf(printed->name, sizeof(printed->name), "%s", name);
	return false;
}

void recorders_parse(const char **name, const char *arg, const struct argp_state *state)
{
	static struct printed printed;

	if (*name)
		argp_error(state, "'%s': one argument too many", arg);
	if (!recorders_valid(arg) || recorders_is_pid(arg)) {
		printed = (struct printed){ .text = arg };
		recorders_each(find_printed, &printed);
		if (!*printed.name && strchr(arg, ':'))
			argp_failure(state, CMD_FAILURE, 0, "%s: there is no recorder of that name",
				     arg);
		arg = *printed.name ? printed.name : arg;
	}
	if (!recorders_valid(arg))
		argp_error(state, "'%s': a name has letters, digits, '-', '_' and '.'; or it is "
			   "the path of a socket", arg);
	*name = arg;
}

/* Returns the path of the folder of sockets, which the caller frees; NULL: none is known. */
static char *folder(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *path = NULL;

	if (!geteuid())
		return strdup("/run/schedtape");
	if (!runtime || *runtime != '/' || asprintf(&path, "%s/schedtape", runtime) < 0)
		return NULL;
	return path;
}

static int set_path(struct sockaddr_un *address, const char *path, struct schedtape_error *err)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return schedtape_fail(err, -ENAMETOOLONG, "%s: a socket's path has at most %zu "
				      "characters", path, sizeof(address->sun_path) - 1);
	memcpy(address->sun_path, path, strlen(path) + 1);
	return 0;
}

int recorders_address(const char *name, bool make, struct sockaddr_un *address,
		      struct schedtape_error *err)
{
	char *in, *path;
	int ret = 0;

	if (strchr(name, '/'))
		return set_path(address, name, err);
	in = folder();
	if (!in)
		return schedtape_fail(err, -ENOENT, "%s: XDG_RUNTIME_DIR is no path of a folder: "
				      "give the path of a socket, with a slash", name);
	if (make && mkdir(in, 0700) && errno != EEXIST)
		ret = schedtape_fail(err, -errno, "%s: %s", in, strerror(errno));
	else if (asprintf(&path, "%s/%s" SUFFIX, in, name) < 0)
		ret = schedtape_fail(err, -ENOMEM, "out of memory");
	if (!ret) {
		ret = set_path(address, path, err);
		free(path);
	}
	free(in);
	return ret;
}

/* -- orders ---------------------------------------------------------------- */

/*
 * Returns a connection, on which nothing takes longer than @seconds; 0: as long as it takes.
 * Returns -errno, -EAGAIN if too many others are waiting for so long.  @flags: SOCK_NONBLOCK: or
 * are waiting at all.
 */
static int reach(const struct sockaddr_un *address, int flags, unsigned int seconds)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	struct timeval patience = { .tv_sec = seconds };

	if (fd < 0)
		return -errno;
	/* The first one holds for connect(), too. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return fd;
	close(fd);
	return -errno;
}

/* Reads a line, and cuts off its newline.  Returns false if no newline came. */
static bool read_line(int fd, char *line, size_t size)
{
	size_t used = 0;
	ssize_t n;

	while (used < size - 1) {
		n = read(fd, line + used, size - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		used += n;
		line[used] = '\0';
		if (strchr(line, '\n')) {
			*strchr(line, '\n') = '\0';
			return true;
		}
	}
	return false;
}

static int take_answer(const char *name, const char *line, char *result,
		       struct schedtape_error *err)
{
	if (!strncmp(line, "error ", 6))
		return schedtape_fail(err, -ECANCELED, "%s: %s", name, line + 6);
	if (strncmp(line, "ok", 2) || (line[2] && line[2] != ' '))
		return schedtape_fail(err, -EPROTO, "%s: this is no recorder", name);
	snprintf(result, RECORDERS_LINE, "%s", line[2] ? line + 3 : "");
	return 0;
}

int recorders_ask(const char *name, const char *order, unsigned int seconds, char *result,
		  struct schedtape_error *err)
{
	char line[RECORDERS_LINE];
	struct sockaddr_un address;
	int fd, ret;

	ret = recorders_address(name, false, &address, err);
	if (ret)
		return ret;
	fd = reach(&address, 0, seconds);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return schedtape_fail(err, -ENOENT, "%s: there is no recorder of that name", name);
	if (fd == -EAGAIN)
		return schedtape_fail(err, fd, "%s: the recorder has not answered", name);
	if (fd < 0)
		return schedtape_fail(err, fd, "%s: %s", name, strerror(-fd));
	snprintf(line, sizeof(line), "%s\n", order);
	/* If that fails, the recorder may have answered already: that it does not take orders. */
	send(fd, line, strlen(line), MSG_NOSIGNAL);
	if (!read_line(fd, line, sizeof(line)))
		ret = schedtape_fail(err, -EIO, "%s: the recorder has not answered", name);
	else
		ret = take_answer(name, line, result, err);
	close(fd);
	return ret;
}

struct json_object *recorders_status(const char *name, unsigned int seconds,
				     struct schedtape_error *err)
{
	char answer[RECORDERS_LINE];
	struct json_object *status;

	if (recorders_ask(name, "status", seconds, answer, err))
		return NULL;
	status = json_tokener_parse(answer);
	if (!status)
		schedtape_fail(err, -EPROTO, "%s: this is no recorder", name);
	return status;
}

/* -- all of them ----------------------------------------------------------- */

pid_t recorders_listener(const struct sockaddr_un *address)
{
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);
	int fd = reach(address, SOCK_NONBLOCK, 0);

	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return 0;
	if (fd < 0)
		return fd;
	/* A process of another PID namespace may have no PID here. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || !peer.pid)
		peer.pid = -ESRCH;
	close(fd);
	return peer.pid;
}

/* Removes the socket of a recorder without a name that was killed: no other would take the name. */
static void remove_dead(const char *name, const char *path)
{
	if (recorders_is_pid(name) && kill(atol(name), 0) && errno == ESRCH)
		unlink(path);
}

void recorders_each(bool (*each)(void *arg, const char *name, pid_t pid), void *arg)
{
	struct sockaddr_un address;
	char *in = folder(), *end;
	DIR *dir = in ? opendir(in) : NULL;
	struct dirent *entry;
	bool more = true;
	pid_t pid;

	free(in);
	while (dir && more && (entry = readdir(dir))) {
		end = strrchr(entry->d_name, '.');
		if (!end || strcmp(end, SUFFIX))
			continue;
		*end = '\0';
		if (!recorders_valid(entry->d_name) ||
		    recorders_address(entry->d_name, false, &address, NULL))
			continue;
		pid = recorders_listener(&address);
		if (pid > 0)
			more = each(arg, entry->d_name, pid);
		else if (!pid)
			remove_dead(entry->d_name, address.sun_path);
	}
	if (dir)
		closedir(dir);
}

/**
 * struct known - the recorders that take snapshots
 * @nr: how many
 * @names: of them, separated by commas and blanks
 * @failed: out of memory
 */
struct known {
	size_t nr;
	char *names;
	bool failed;
};

/* Returns true if a recorder takes snapshots.  One that does not answer now may do so. */
static bool takes_snapshots(const char *name)
{
	struct json_object *status = recorders_status(name, KNOWN_SECONDS, NULL), *count;
	bool takes = !status || (json_object_object_get_ex(status, "snapshot_count", &count) &&
				 json_object_is_type(count, json_type_int));

	json_object_put(status);
	return takes;
}

static bool add_known(void *arg, const char *name, pid_t pid)
{
	struct known *known = arg;
	char *names;

	(void)pid;
	if (!takes_snapshots(name))
		return true;
	known->failed = asprintf(&names, "%s%s%s", known->nr ? known->names : "",
				 known->nr ? ", " : "", name) < 0;
	if (known->failed)
		return false;
	free(known->names);
	known->names = names;
	known->nr++;
	return true;
}

int recorders_only(char **name, struct schedtape_error *err)
{
	struct known known = { .nr = 0 };
	int ret = 0;

	recorders_each(add_known, &known);
	if (known.failed)
		ret = schedtape_fail(err, -ENOMEM, "out of memory");
	else if (!known.nr)
		ret = schedtape_fail(err, -ENOENT, "there is no recorder that takes snapshots: "
				     "begin one with \"schedtape record -M 64M -a\"");
	else if (known.nr > 1)
		ret = schedtape_fail(err, -EEXIST, "which --recorder? There are %s", known.names);
	*name = ret ? NULL : known.names;
	if (ret)
		free(known.names);
	return ret;
}
