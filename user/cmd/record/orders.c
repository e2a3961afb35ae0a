// SPDX-License-Identifier: GPL-2.0-only
#include "record/orders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/output.h"
#include "common/recorders.h"
#include "record/timing.h"

#define WAITING		16	/* connections that wait for the one that is read */
#define PATIENCE_MS	1000

/* -- opening --------------------------------------------------------------- */

/* Takes the name, as long as this process lives. */
static int take_name(struct orders *orders, const char *name)
{
	char path[sizeof(orders->path) + 8];

	snprintf(path, sizeof(path), "%s.lock", orders->path);
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

/* Removes the socket of a recorder that was killed: this one has the lock. */
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
	memcpy(orders->path, address.sun_path, sizeof(orders->path));
	ret = take_name(orders, name);
	if (ret)
		return ret;
	ret = listen_at(orders, &address);
	if (ret)
		out_error(orders->path, "%s", strerror(-ret));
	return ret;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void orders_close(struct orders *orders)
{
	close_one(&orders->peer);
	close_one(&orders->listener);
	/* The locked file stays: another recorder may wait for the lock of this very file. */
	if (orders->bound)
		unlink(orders->path);
	orders->bound = false;
	close_one(&orders->lock);
}

/* -- reading --------------------------------------------------------------- */

int orders_fd(const struct orders *orders)
{
	return orders->peer >= 0 ? orders->peer : orders->listener;
}

/* Returns true for the recorder's user and root.  The socket's mode may let in others. */
static bool may_order(int peer)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	return !getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &cred, &size) &&
	       (!cred.uid || cred.uid == geteuid());
}

static void take_peer(struct orders *orders)
{
	if (orders->peer >= 0)
		return;
	orders->peer = accept4(orders->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	orders->since = timing_now();
	orders->used = 0;
	if (orders->peer >= 0 && !may_order(orders->peer))
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
	return timing_now() - orders->since < PATIENCE_MS ? 0 : -1;
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
	order = length > 0 ? control_order(orders->line, length) : ORDER_NONE;
	if (order == ORDER_NONE)
		orders_answer(orders, NULL, "not one of enable, disable, snapshot, "
			      "status, ping and stop");
	return order;
}

void orders_answer(struct orders *orders, const char *result, const char *wrong)
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
	send(orders->peer, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
	close_one(&orders->peer);
}
