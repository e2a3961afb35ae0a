// SPDX-License-Identifier: GPL-2.0-only
/* Description: a recording does what -D, --duration and --control say, when they say it. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/control.h"
#include "common/output.h"
#include "tap.h"
#include "record/timing.h"

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

/* -- timing ---------------------------------------------------------------- */

static void sleep_ms(int ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000L };

	nanosleep(&ts, NULL);
}

static void test_delay_forms(void)
{
	static const char * const good[] = {
		"0", "500", "-1", "0-10", "10-20,30-40", "1-2,3-4,5-6",
	};
	static const char * const bad[] = {
		"", "-", "-2", "x", "1x", "10,20", "20-10", "10-20,15-30", "10-20,", "10-20,30",
		"1.5",
	};
	struct timing timing;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		memset(&timing, 0, sizeof(timing));
		ok(timing_parse_delay(&timing, good[i]), "-D %s", good[i]);
		timing_free(&timing);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&timing, 0, sizeof(timing));
		ok(!timing_parse_delay(&timing, bad[i]), "not -D %s", bad[i]);
		timing_free(&timing);
	}
}

static void test_duration_forms(void)
{
	static const char * const bad[] = { "", "0", "-1", "x", "1x", "nan", "inf", "1e99" };
	struct timing timing = { .duration = 0 };
	size_t i;

	ok(timing_parse_duration(&timing, "2") && timing.duration == 2000, "--duration 2");
	ok(timing_parse_duration(&timing, "0.25") && timing.duration == 250, "--duration 0.25");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!timing_parse_duration(&timing, bad[i]), "not --duration %s", bad[i]);
}

static void test_always_on(void)
{
	struct timing timing = { .open_end = false };

	ok(!timing_delayed(&timing), "nothing said: on from the beginning");
	timing_begin(&timing);
	timing_started(&timing);
	ok(timing_next(&timing) == ORDER_NONE, "and nothing is ever due");
	ok(timing_wait(&timing, 1000) == 1000, "nor waited for");
}

static void test_one_delay(void)
{
	struct timing timing = { .open_end = false };

	timing_parse_delay(&timing, "-1");
	ok(timing_delayed(&timing), "-D -1 begins later");
	timing_begin(&timing);
	ok(timing_next(&timing) == ORDER_NONE && timing_wait(&timing, 1000) == 1000,
	   "and time alone begins nothing");
	timing_parse_delay(&timing, "30");
	ok(timing_delayed(&timing), "-D 30 begins later");
	timing_begin(&timing);
	ok(timing_next(&timing) == ORDER_NONE, "nothing is due yet");
	ok(timing_wait(&timing, 1000) <= 30, "it will soon be");
	sleep_ms(35);
	ok(!timing_wait(&timing, 1000), "now it is");
	ok(timing_next(&timing) == ORDER_ENABLE, "to begin");
	ok(timing_next(&timing) == ORDER_NONE && timing_wait(&timing, 1000) == 1000,
	   "once, and that was all");
	timing_free(&timing);
}

static void test_periods(void)
{
	static const enum order orders[] = { ORDER_DISABLE, ORDER_ENABLE, ORDER_STOP };
	struct timing timing = { .open_end = false };
	size_t i;

	timing_parse_delay(&timing, "0-20,40-60");
	ok(!timing_delayed(&timing), "a period from the beginning on");
	timing_begin(&timing);
	for (i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		ok(timing_next(&timing) == ORDER_NONE, "nothing is due within a period");
		sleep_ms(timing_wait(&timing, 1000) + 1);
		ok(timing_next(&timing) == orders[i], "edge %zu", i + 1);
	}
	timing_free(&timing);

	timing_parse_delay(&timing, "0-20");
	timing.started = 0;
	timing_started(&timing);
	sleep_ms(25);
	timing_begin(&timing);
	ok(timing_next(&timing) == ORDER_STOP, "periods count from the start, if that came first");
	timing_free(&timing);
}

static void test_duration(void)
{
	struct timing timing = { .open_end = false };

	timing_parse_duration(&timing, "0.02");
	timing_begin(&timing);
	sleep_ms(25);
	ok(timing_next(&timing) == ORDER_NONE, "a duration counts from the start on");
	timing_started(&timing);
	ok(timing_wait(&timing, 1000) <= 20, "from then on it runs");
	sleep_ms(25);
	timing_started(&timing);
	ok(timing_next(&timing) == ORDER_STOP, "a second start does not prolong it");
}

/* -- control --------------------------------------------------------------- */

static void test_control_forms(void)
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

static void test_orders(void)
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
	   "what is done is acknowledged as perf does it");
	ok(!complaints, "nothing to complain of");
	close_pipes(&pipes);
}

static void test_odd_orders(void)
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
	put(&pipes, "snapshot\nping\n", 14);
	ok(control_next(&pipes.control) == ORDER_PING && complaints == 1,
	   "what is no order is passed over, with a warning");
	close_pipes(&pipes);
}

static void test_noise(void)
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

static void test_fifo(void)
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

int main(void)
{
	test_delay_forms();
	test_duration_forms();
	test_always_on();
	test_one_delay();
	test_periods();
	test_duration();
	test_control_forms();
	test_orders();
	test_odd_orders();
	test_noise();
	test_fifo();
	return tap_done();
}
