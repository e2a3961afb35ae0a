// SPDX-License-Identifier: GPL-2.0-only
#include "record/orders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "common/output.h"
#include "record/internal.h"

#define FD	"fd:"
#define FIFO	"fifo:"
#define WAITING		16	/* connections that wait for the one that is read */
#define PATIENCE_MS	1000
#define AFTER_MAX_MS	1000000000000	/* more than 30 years */
#define NEVER		UINT64_MAX

/* Returns the order that is this word of @len bytes, or ORDER_NONE. */
static enum order find_order(const char *word, size_t len)
{
	static const char * const words[] = {
		[ORDER_ENABLE] = "enable",
		[ORDER_DISABLE] = "disable",
		[ORDER_PING] = "ping",
		[ORDER_SNAPSHOT] = "snapshot",
		[ORDER_STATUS] = "status",
		[ORDER_STOP] = "stop",
	};
	enum order order;

	for (order = ORDER_ENABLE; order <= ORDER_STOP; order++)
		if (len == strlen(words[order]) && !memcmp(word, words[order], len))
			return order;
	return ORDER_NONE;
}

/* -- the pipe of --control ------------------------------------------------- */

static bool valid_fds(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 9)
		return false;
	if (text[digits] != ',')
		return !text[digits];
	text += digits + 1;
	digits = strspn(text, "0123456789");
	return digits && digits <= 9 && !text[digits];
}

bool control_valid(const char *text)
{
	if (!strncmp(text, FD, strlen(FD)))
		return valid_fds(text + strlen(FD));
	if (strncmp(text, FIFO, strlen(FIFO)))
		return false;
	text += strlen(FIFO);
	return *text && *text != ',' && text[strlen(text) - 1] != ',';
}

/* Sets FD_CLOEXEC, so that the recorded command does not inherit the descriptor. */
static int take_fd(const char *text)
{
	int fd = atoi(text);

	if (!fcntl(fd, F_SETFD, FD_CLOEXEC))
		return fd;
	out_error(NULL, "--control: descriptor %d: %s", fd, strerror(errno));
	return -1;
}

/* Opens for reading and writing, so that open() needs no peer and read() sees no end of file. */
static int open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		out_error(NULL, "--control: %s: %s", path, strerror(errno));
	return fd;
}

int control_open(struct control *control, const char *text)
{
	bool fifo = !strncmp(text, FIFO, strlen(FIFO));
	char *copy = strdup(text + strlen(fifo ? FIFO : FD)), *ack;

	if (!copy)
		return -ENOMEM;
	ack = strchr(copy, ',');
	if (ack)
		*ack++ = '\0';
	control->fd = fifo ? open_fifo(copy) : take_fd(copy);
	if (control->fd >= 0 && ack)
		control->ack = fifo ? open_fifo(ack) : take_fd(ack);
	free(copy);
	return control->fd < 0 || (ack && control->ack < 0) ? -EBADF : 0;
}

void control_close(struct control *control)
{
	if (control->fd >= 0)
		close(control->fd);
	if (control->ack >= 0)
		close(control->ack);
	control->fd = -1;
	control->ack = -1;
}

void control_read(struct control *control)
{
	ssize_t n;

	/* A full buffer without an order is longer than any order: drop it. */
	if (control->used == sizeof(control->buffer))
		control->used = 0;
	n = read(control->fd, control->buffer + control->used,
		 sizeof(control->buffer) - control->used);
	if (n > 0) {
		control->used += n;
	} else if (!n || (errno != EAGAIN && errno != EINTR)) {
		close(control->fd);
		control->fd = -1;
	}
}

/*
 * An order ends with a newline or a NUL.  Some programs write neither: then the whole buffer is
 * an order if it is a known word.
 */
enum order control_next(struct control *control)
{
	size_t len, taken;
	enum order order = ORDER_NONE;

	while (control->used && order == ORDER_NONE) {
		for (len = 0; len < control->used; len++)
			if (control->buffer[len] == '\n' || !control->buffer[len])
				break;
		order = find_order(control->buffer, len);
		taken = len;
		if (len < control->used)
			taken++;
		else if (order == ORDER_NONE)
			break;
		if (order == ORDER_NONE && len)
			out_warning(NULL, "--control: no order \"%.*s\"", (int)len,
				    control->buffer);
		control->used -= taken;
		memmove(control->buffer, control->buffer + taken, control->used);
	}
	return order;
}

/* Writes the NUL as well, as perf does, because some programs wait for five bytes. */
void control_ack(struct control *control)
{
	static const char ack[] = "ack\n";

	if (control->ack < 0 || write(control->ack, ack, sizeof(ack)) == sizeof(ack))
		return;
	out_warning(NULL, "--control: cannot acknowledge: %s", strerror(errno));
	close(control->ack);
	control->ack = -1;
}

/* -- opening the socket ---------------------------------------------------- */

/* Takes the name, as long as this process lives. */
static int take_name(struct orders *orders, const char *name, const char *of_socket)
{
	char path[sizeof(orders->path) + 8];

	snprintf(path, sizeof(path), "%s.lock", of_socket);
	orders->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (orders->lock < 0) {
		out_error(path, "%s", strerror(errno));
		return -EACCES;
	}
	if (!flock(orders->lock, LOCK_EX | LOCK_NB))
		return 0;
	if (errno != EWOULDBLOCK) {
		out_error(path, "%s", strerror(errno));
		return -ENOLCK;
	}
	out_error(NULL, "--name %s: another recorder has this name: see \"schedtape list\"", name);
	return -EBUSY;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Removes the socket of a recorder that was killed: this one has the name. */
static int make_way(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(path) ? -errno : 0;
}

static int listen_at(struct orders *orders, const struct sockaddr_un *address)
{
	mode_t before;
	int ret;

	memcpy(orders->path, address->sun_path, sizeof(orders->path));
	orders->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (orders->listener < 0)
		return -errno;
	ret = make_way(orders->path);
	if (ret)
		return ret;
	before = umask(0177);
	ret = bind(orders->listener, (const struct sockaddr *)address, sizeof(*address));
	umask(before);
	orders->bound = !ret;
	return ret || listen(orders->listener, WAITING) ? -errno : 0;
}

int orders_open(struct orders *orders, const char *name)
{
	struct schedtape_error err;
	struct sockaddr_un address;
	int ret = recorders_address(name, true, &address, &err);

	if (ret)
		return out_failed(ret, &err);
	ret = take_name(orders, name, address.sun_path);
	if (ret)
		return ret;
	ret = listen_at(orders, &address);
	if (ret)
		out_error(orders->path, "%s", strerror(-ret));
	return ret;
}

void orders_open_unnamed(struct orders *orders)
{
	struct sockaddr_un address;
	char name[16];

	snprintf(name, sizeof(name), "%d", getpid());
	/* A recorder in another PID namespace may have this PID, too. */
	if (recorders_address(name, true, &address, NULL) || recorders_listener(&address) ||
	    listen_at(orders, &address))
		close_one(&orders->listener);
}

void orders_close(struct orders *orders)
{
	while (orders->nr_waiting)
		orders_answer_snapshot(&orders->waiting[--orders->nr_waiting], NULL,
				       "the recording has ended");
	close_one(&orders->peer);
	close_one(&orders->listener);
	/* The locked file stays: another recorder may wait for the lock of this very file. */
	if (orders->bound)
		unlink(orders->path);
	orders->bound = false;
	close_one(&orders->lock);
}

/* -- reading from it ------------------------------------------------------- */

int orders_fd(const struct orders *orders)
{
	return orders->peer >= 0 ? orders->peer : orders->listener;
}

/* Returns true for the recorder's user and root.  The socket's mode may let in others. */
static bool may_order(struct orders *orders)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	if (getsockopt(orders->peer, SOL_SOCKET, SO_PEERCRED, &cred, &size))
		return false;
	orders->asker = (struct asker){ .pid = cred.pid, .uid = cred.uid };
	return !cred.uid || cred.uid == geteuid();
}

static void take_peer(struct orders *orders)
{
	if (orders->peer >= 0)
		return;
	orders->peer = accept4(orders->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	orders->since = now_ms();
	orders->used = 0;
	if (orders->peer >= 0 && !may_order(orders))
		orders_answer(orders, NULL, "only the recorder's user and root may do that");
}

/* Reads the line.  Returns its length, 0: it is not complete; -1: it never will be. */
static ssize_t read_line(struct orders *orders)
{
	ssize_t n = recv(orders->peer, orders->line + orders->used,
			 sizeof(orders->line) - orders->used, 0);
	const char *end;

	if (n > 0) {
		orders->used += n;
		end = memchr(orders->line, '\n', orders->used);
		if (end)
			return end - orders->line;
		if (orders->used == sizeof(orders->line))
			return -1;
	} else if (!n || (errno != EAGAIN && errno != EINTR)) {
		return -1;
	}
	return now_ms() - orders->since < PATIENCE_MS ? 0 : -1;
}

/*
 * Parses "after=MS" and a note, which may both be missing.  @text: what is behind "snapshot"; NULL:
 * nothing.  Returns false for anything else.
 */
static bool parse_snapshot(struct orders *orders, const char *text)
{
	struct orders_snapshot *snapshot = &orders->snapshot;
	uint64_t after = 0;
	char *end;

	if (text && !strncmp(text, "after=", 6)) {
		after = strtoull(text + 6, &end, 10);
		if (text[6] < '0' || text[6] > '9' || after > AFTER_MAX_MS || (*end && *end != ' '))
			return false;
		text = *end ? end + 1 : NULL;
	}
	snapshot->time = schedtape_now();
	snapshot->due = snapshot->time / 1000000 + after;
	snapshot->asker = orders->asker;
	text_safe(snapshot->note, sizeof(snapshot->note), text ? text : "");
	return true;
}

/* Parses the line, of which the newline is at @length.  Returns ORDER_NONE for any other text. */
static enum order parse_order(struct orders *orders, size_t length)
{
	char *blank = memchr(orders->line, ' ', length);
	size_t word = blank ? (size_t)(blank - orders->line) : length;
	enum order order = find_order(orders->line, word);

	orders->line[length] = '\0';
	if (order != ORDER_SNAPSHOT)
		return blank ? ORDER_NONE : order;
	return parse_snapshot(orders, blank ? blank + 1 : NULL) ? order : ORDER_NONE;
}

enum order orders_read(struct orders *orders)
{
	enum order order;
	ssize_t length;

	if (orders->listener < 0)
		return ORDER_NONE;
	take_peer(orders);
	if (orders->peer < 0)
		return ORDER_NONE;
	length = read_line(orders);
	if (!length)
		return ORDER_NONE;
	order = length > 0 ? parse_order(orders, length) : ORDER_NONE;
	if (order == ORDER_NONE)
		orders_answer(orders, NULL, "not one of enable, disable, snapshot, "
			      "status, ping and stop");
	return order;
}

/* -- answers --------------------------------------------------------------- */

static void answer(int *peer, const char *result, const char *wrong)
{
	char line[RECORDERS_LINE], *end;

	if (wrong)
		snprintf(line, sizeof(line), "error %s\n", wrong);
	else if (result)
		snprintf(line, sizeof(line), "ok %s\n", result);
	else
		snprintf(line, sizeof(line), "ok\n");
	/* The answer is one line, whatever a path has. */
	for (end = line; *end && end[1]; end++)
		if (*end == '\n')
			*end = '?';
	/* A client that has closed the connection does not get the answer. */
	send(*peer, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
	close_one(peer);
}

void orders_answer(struct orders *orders, const char *result, const char *wrong)
{
	answer(&orders->peer, result, wrong);
}

void orders_answer_snapshot(struct orders_snapshot *snapshot, const char *result,
			    const char *wrong)
{
	answer(&snapshot->fd, result, wrong);
}

/* -- snapshots that are waited for ----------------------------------------- */

void orders_wait_for(struct orders *orders)
{
	if (orders->nr_waiting == ORDERS_WAITING) {
		orders_answer(orders, NULL, "too many snapshots are still to be taken");
		return;
	}
	orders->snapshot.fd = orders->peer;
	orders->peer = -1;
	orders->waiting[orders->nr_waiting++] = orders->snapshot;
}

bool orders_due(struct orders *orders, struct orders_snapshot *snapshot)
{
	uint64_t now = now_ms();
	size_t i;

	for (i = 0; i < orders->nr_waiting; i++) {
		if (orders->waiting[i].due > now)
			continue;
		*snapshot = orders->waiting[i];
		orders->nr_waiting--;
		memmove(&orders->waiting[i], &orders->waiting[i + 1],
			(orders->nr_waiting - i) * sizeof(*snapshot));
		return true;
	}
	return false;
}

int orders_wait(const struct orders *orders, int most)
{
	size_t i;

	for (i = 0; i < orders->nr_waiting; i++)
		most = ms_until(orders->waiting[i].due, most);
	return most;
}

/* -- the times of -D and --duration ---------------------------------------- */

/* Returns true if periods are not empty and follow each other. */
static bool in_order(const struct select_numbers *periods)
{
	uint32_t before = 0;
	size_t i;

	for (i = 0; i < periods->nr; i++) {
		if (periods->ranges[i].first >= periods->ranges[i].last ||
		    (i && periods->ranges[i].first <= before))
			return false;
		before = periods->ranges[i].last;
	}
	return true;
}

bool timing_parse_delay(struct timing *timing, const char *text)
{
	timing_free(timing);
	timing->off = !strcmp(text, "-1");
	if (timing->off)
		return true;
	timing->open_end = !strchr(text, '-');
	if (select_numbers_parse(&timing->periods, text))
		return false;
	return timing->open_end ? timing->periods.nr == 1 : in_order(&timing->periods);
}

bool timing_parse_duration(struct timing *timing, const char *text)
{
	return units_time(text, 1e3, &timing->duration);
}

bool timing_delayed(const struct timing *timing)
{
	return timing->off || (timing->periods.nr && timing->periods.ranges[0].first);
}

void timing_begin(struct timing *timing)
{
	timing->begun = timing->started ? timing->started : now_ms();
	/* A recording that is on from the beginning needs no order for that edge. */
	timing->edge = !timing_delayed(timing);
}

void timing_started(struct timing *timing)
{
	if (!timing->started)
		timing->started = now_ms();
}

static uint64_t next_edge(const struct timing *timing)
{
	size_t period = timing->edge / 2;

	if (period >= timing->periods.nr)
		return NEVER;
	if (!(timing->edge & 1))
		return timing->begun + timing->periods.ranges[period].first;
	if (timing->open_end)
		return NEVER;
	return timing->begun + timing->periods.ranges[period].last;
}

static uint64_t end(const struct timing *timing)
{
	return timing->duration && timing->started ? timing->started + timing->duration : NEVER;
}

enum order timing_next(struct timing *timing)
{
	uint64_t now = now_ms();

	if (now >= end(timing))
		return ORDER_STOP;
	if (now < next_edge(timing))
		return ORDER_NONE;
	timing->edge++;
	if (timing->edge & 1)
		return ORDER_ENABLE;
	return timing->edge == 2 * timing->periods.nr ? ORDER_STOP : ORDER_DISABLE;
}

int timing_wait(const struct timing *timing, int most)
{
	uint64_t due = next_edge(timing);

	if (end(timing) < due)
		due = end(timing);
	return ms_until(due, most);
}

void timing_free(struct timing *timing)
{
	select_numbers_free(&timing->periods);
	memset(&timing->periods, 0, sizeof(timing->periods));
}
