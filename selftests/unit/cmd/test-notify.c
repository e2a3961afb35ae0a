// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a recorder reports to the service manager, and when, by a clock that the test
 * controls.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "record/internal.h"
#include "tap.h"

static struct timespec mono = { .tv_sec = 1 };
static const struct recorder recorder;
static int manager;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = mono;
	return 0;
}

static void pass(unsigned int ms)
{
	mono.tv_nsec += ms * 1000000;
	mono.tv_sec += mono.tv_nsec / 1000000000;
	mono.tv_nsec %= 1000000000;
}

/* Returns true if the manager's next report begins with this text; "": there is none. */
static bool got(const char *expected)
{
	char text[256] = "";
	ssize_t n = recv(manager, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n < 0)
		return !*expected;
	return *expected && !strncmp(text, expected, strlen(expected));
}

/* Sets NOTIFY_SOCKET to a socket without a name in the file system. */
static void listen_to_reports(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[64];

	snprintf(name, sizeof(name), "@schedtape-test-%d", getpid());
	memcpy(address.sun_path, name, strlen(name));
	address.sun_path[0] = '\0';
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(manager, (struct sockaddr *)&address,
		 offsetof(struct sockaddr_un, sun_path) + strlen(name)))
		printf("Bail out! bind\n");
	setenv("NOTIFY_SOCKET", name, 1);
}

TEST(watchdog)
{
	struct notify notify = { .on = false };
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	setenv("WATCHDOG_USEC", "2000000", 1);
	notify_ready(&notify);
	ok(got("READY=1\n") && notify.watchdog_ms == 1000, "ready, with a watchdog of 2 s");
	ok(notify_wait(&notify, 5000) == 1000 && notify_wait(&notify, 7) == 7, "half of it");
	pass(999);
	notify_tick(&notify, &recorder, true);
	ok(got("") && notify_wait(&notify, 5000) == 1, "1 ms before that, nothing");
	pass(1);
	ok(!notify_wait(&notify, 5000), "it is time");
	notify_tick(&notify, &recorder, true);
	ok(got("WATCHDOG=1") && got("") && notify_wait(&notify, 5000) == 1000, "one report");
	pass(3000);
	ok(!notify_wait(&notify, 5000), "late");
	notify_tick(&notify, &recorder, true);
	notify_tick(&notify, &recorder, true);
	ok(got("WATCHDOG=1") && got(""), "one report as well");
	notify_stopping(&notify);
	ok(got("STOPPING=1\n"), "it ends");
	notify_tick(&notify, &recorder, true);
	notify_stopping(&notify);
	ok(got(""), "then nothing is reported");
}

TEST(shortest)
{
	struct notify notify = { .on = false };

	setenv("WATCHDOG_USEC", "1", 1);
	notify_ready(&notify);
	ok(got("READY=1\n") && notify.watchdog_ms == 1, "the shortest interval is 1 ms");
	setenv("WATCHDOG_PID", "1", 1);
	notify = (struct notify){ .on = false };
	notify_ready(&notify);
	ok(got("READY=1\n") && !notify.watchdog_ms && notify_wait(&notify, 5000) == 5000,
	   "the watchdog of another process is not for this one");
}

TEST(alone)
{
	struct notify notify = { .on = false };

	unsetenv("NOTIFY_SOCKET");
	notify_ready(&notify);
	pass(100000);
	notify_tick(&notify, &recorder, true);
	notify_stopping(&notify);
	ok(got("") && notify_wait(&notify, 5000) == 5000, "without a service manager, nothing");
}

TEST_MAIN_AFTER(listen_to_reports())
