// SPDX-License-Identifier: GPL-2.0-only
/* Description: a recording follows the orders of --control, and its socket is found. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/output.h"
#include "common/recorders.h"
#include "fake-folder.h"
#include "record/orders.h"
#include "tap.h"

static unsigned int complaints;

void out_error(const char *path, const char *format, ...)
{
	(void)path;
	(void)format;
	complaints++;
}

void out_warning(const char *path, const char *format, ...)
{
	(void)path;
	(void)format;
	complaints++;
}

int out_failed(int ret, const struct schedtape_error *err)
{
	(void)err;
	return ret;
}

/* Replaces the C library's functions: root's sockets are not in a folder of the test. */
uid_t geteuid(void)
{
	return 1000;
}

void argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state;
	(void)format;
	complaints++;
}

/* -- control --------------------------------------------------------------- */

TEST(control_forms)
{
	static const char * const good[] = {
		"fd:3", "fd:10,11", "fifo:ctl", "fifo:/a/b,c", "fifo:fd:3",
	};
	static const char * const bad[] = {
		"", "3", "fd:", "fd:x", "fd:3,", "fd:3,x", "fd:3x", "fd:-1", "fd:1,2,3",
		"fd:12345678901", "fifo:", "fifo:,", "fifo:,b", "fifo:a,", "pipe:a",
	};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(control_valid(good[i]), "--control %s", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!control_valid(bad[i]), "not --control %s", bad[i]);
}

struct pipes {
	struct control control;
	int to;		/* orders */
	int from;	/* acknowledgements */
};

static void open_pipes(struct pipes *pipes)
{
	int ctl[2], ack[2];
	char text[64];

	pipes->control = (struct control)CONTROL_CLOSED;
	if (pipe2(ctl, O_NONBLOCK) || pipe2(ack, O_NONBLOCK))
		return;
	snprintf(text, sizeof(text), "fd:%d,%d", ctl[0], ack[1]);
	ok(!control_open(&pipes->control, text), "%s", text);
	ok(fcntl(ctl[0], F_GETFD) & FD_CLOEXEC && fcntl(ack[1], F_GETFD) & FD_CLOEXEC,
	   "the command does not get them");
	pipes->to = ctl[1];
	pipes->from = ack[0];
	complaints = 0;
}

static void close_pipes(struct pipes *pipes)
{
	control_close(&pipes->control);
	close(pipes->to);
	close(pipes->from);
}

static void put(struct pipes *pipes, const char *text, size_t len)
{
	ok(write(pipes->to, text, len) == (ssize_t)len, "%zu bytes of orders", len);
	control_read(&pipes->control);
}

TEST(orders)
{
	static const char ack[] = "ack\n";
	struct pipes pipes;
	char got[16];

	open_pipes(&pipes);
	put(&pipes, "enable\ndisable\nping\nstop\n", 25);
	ok(control_next(&pipes.control) == ORDER_ENABLE, "enable");
	ok(control_next(&pipes.control) == ORDER_DISABLE, "disable");
	ok(control_next(&pipes.control) == ORDER_PING, "ping");
	ok(control_next(&pipes.control) == ORDER_STOP, "stop");
	ok(control_next(&pipes.control) == ORDER_NONE, "and no more");
	control_ack(&pipes.control);
	ok(read(pipes.from, got, sizeof(got)) == sizeof(ack) && !memcmp(got, ack, sizeof(ack)),
	   "an order is acknowledged as perf does it");
	ok(!complaints, "nothing to complain of");
	close_pipes(&pipes);
}

TEST(odd_orders)
{
	struct pipes pipes;

	open_pipes(&pipes);
	put(&pipes, "enable", 6);
	ok(control_next(&pipes.control) == ORDER_ENABLE, "a newline may be missing");
	put(&pipes, "\n", 1);
	ok(control_next(&pipes.control) == ORDER_NONE, "or come later");
	put(&pipes, "ping\0stop\0", 10);
	ok(control_next(&pipes.control) == ORDER_PING, "a NUL ends an order, too");
	ok(control_next(&pipes.control) == ORDER_STOP, "and the next one");
	put(&pipes, "disa", 4);
	ok(control_next(&pipes.control) == ORDER_NONE, "half an order is none");
	put(&pipes, "ble\n", 4);
	ok(control_next(&pipes.control) == ORDER_DISABLE, "until the rest comes");
	ok(!complaints, "nothing to complain of");
	put(&pipes, "snapshot\n", 9);
	ok(control_next(&pipes.control) == ORDER_SNAPSHOT, "a snapshot");
	put(&pipes, "snapshots\nping\n", 15);
	ok(control_next(&pipes.control) == ORDER_PING && complaints == 1,
	   "an unknown order is ignored, with a warning");
	close_pipes(&pipes);
}

TEST(noise)
{
	char noise[200];
	struct pipes pipes;
	int i;

	open_pipes(&pipes);
	memset(noise, 'x', sizeof(noise));
	put(&pipes, noise, sizeof(noise));
	for (i = 0; i < 10; i++) {
		ok(control_next(&pipes.control) == ORDER_NONE, "noise is no order");
		control_read(&pipes.control);
	}
	put(&pipes, "\nping\n", 6);
	ok(control_next(&pipes.control) == ORDER_PING, "behind it there may be one");
	close(pipes.to);
	control_read(&pipes.control);
	ok(pipes.control.fd == -1, "the end of the pipe is the end of orders");
	pipes.to = open("/dev/null", O_WRONLY);
	close_pipes(&pipes);
}

TEST(fifo)
{
	struct control control = CONTROL_CLOSED;
	char dir[] = "/tmp/orders-XXXXXX", path[64], text[80];
	int fd;

	ok(mkdtemp(dir), "a folder");
	snprintf(path, sizeof(path), "%s/ctl", dir);
	snprintf(text, sizeof(text), "fifo:%s", path);
	ok(control_open(&control, text) && complaints, "a FIFO that is not there is an error");
	ok(!mkfifo(path, 0600) && !control_open(&control, text), "one that is there is not");
	control_read(&control);
	ok(control.fd >= 0, "it waits for a first writer");
	fd = open(path, O_WRONLY);
	ok(write(fd, "stop\n", 5) == 5, "which writes");
	close(fd);
	control_read(&control);
	ok(control_next(&control) == ORDER_STOP, "and is heard");
	control_read(&control);
	ok(control.fd >= 0, "its end is not the end");
	control_ack(&control);
	control_close(&control);
	ok(control_open(&control, "fd:999"), "a descriptor that is not open is an error");
	unlink(path);
	rmdir(dir);
}

/* -- sockets --------------------------------------------------------------- */

/* Returns a socket that has this name, and on which nobody listens yet. */
static int bind_socket(const char *name, struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setenv("XDG_RUNTIME_DIR", folder, 1);
	ok(!recorders_address(name, true, address, NULL) &&
	   !bind(fd, (struct sockaddr *)address, sizeof(*address)), "a socket %s", name);
	return fd;
}

static bool count(void *arg, const char *name, pid_t pid)
{
	unsigned int *n = arg;

	*n += *name && pid == getpid();
	return true;
}

TEST(recorders)
{
	struct orders orders = ORDERS_CLOSED;
	const char *name = NULL;
	char shown[32];

	folder_make();
	setenv("XDG_RUNTIME_DIR", folder, 1);
	ok(!orders_open(&orders, "web"), "a recorder with a name");
	snprintf(shown, sizeof(shown), "web:%d", getpid());
	recorders_parse(&name, shown, NULL);
	ok(name && !strcmp(name, "web"), "is found as list shows it");
	name = NULL;
	recorders_parse(&name, "0", NULL);
	ok(name && !strcmp(name, "0"), "and not for another PID after that");
	orders_close(&orders);
	folder_remove();
}

TEST(dead_recorders)
{
	struct sockaddr_un dead, alive, named;
	unsigned int n = 0;
	char name[16];
	pid_t pid;

	folder_make();
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	snprintf(name, sizeof(name), "%d", pid);
	close(bind_socket(name, &dead));
	snprintf(name, sizeof(name), "%d", getpid());
	close(bind_socket(name, &alive));
	close(bind_socket("web", &named));
	recorders_each(count, &n);
	ok(!n, "none is of a recorder that runs");
	ok(access(dead.sun_path, F_OK), "the socket of a PID that is not there is removed");
	ok(!access(alive.sun_path, F_OK), "a socket stays if its process does not listen yet");
	ok(!access(named.sun_path, F_OK), "and so does that of a name");
	folder_remove();
}

TEST(busy_recorders)
{
	struct orders orders = ORDERS_CLOSED;
	struct sockaddr_un address;
	int fd, others[8];
	char name[16];
	size_t n = 0;

	folder_make();
	snprintf(name, sizeof(name), "%d", getpid());
	fd = bind_socket(name, &address);
	listen(fd, 0);
	do {
		others[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	} while (!connect(others[n++], (struct sockaddr *)&address, sizeof(address)) && n < 8);
	ok(recorders_listener(&address) == -EAGAIN, "a recorder that has many orders to take");
	orders_open_unnamed(&orders);
	ok(orders.listener < 0 && !access(address.sun_path, F_OK), "keeps its socket");
	close(accept(fd, NULL, NULL));
	ok(recorders_listener(&address) == getpid(), "and is found when it has taken one");
	orders_close(&orders);
	while (n)
		close(others[--n]);
	close(fd);
	folder_remove();
}

TEST_MAIN
