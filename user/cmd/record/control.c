// SPDX-License-Identifier: GPL-2.0-only
#include "record/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/output.h"

#define FD	"fd:"
#define FIFO	"fifo:"

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

enum order control_order(const char *word, size_t len)
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
		order = control_order(control->buffer, len);
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
