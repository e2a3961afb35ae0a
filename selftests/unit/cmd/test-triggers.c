// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the forms of --trigger, and when a trigger fires, by a clock that the test controls.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/signals.h"
#include "record/triggers.h"
#include "tap.h"

static struct timespec mono = { .tv_sec = 1 };

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = mono;
	return 0;
}

TEST(forms)
{
	static const char * const bad[] = {
		"", "exec", "exec:", "psi:", "psi:cpu", "psi:gpu some 1 2", "latency",
		"latency:", "latency:5", "latency:0ms", "lat:5ms", "burst:2d", "rate:5", "rate:5/m",
		"rate:0/s", "rate:2000000000/s", ":5ms", "exec:true,pid=1", "burst:1s,pid=0",
		"burst:1s,pid=5000000", "exec:true,task=a", "burst:1s,task=", "exec:true,then=go",
		"rate:5/s,pid=1", "rate:5/s,task=a", "merged=exec:true",
		"latency=5ms", "=latency:5ms", "a b=latency:5ms", "a/b=exec:true",
		"exec:true,max=0", "exec:true,max=-1", "exec:true,max=1x", "exec:true,after=1",
		"exec:true,after=", "exec:true,every=0s",
		"a2345678901234567890123456789012=exec:true", "psi:cpu some 1 2,every=1s",
		"bpf:", "bpf:/sys/fs/bpf/a,pid=1",
	};
	struct triggers triggers = { .nr = 0 };
	struct schedtape_error err;
	const struct trigger *trigger;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(triggers_add(&triggers, bad[i], &err) == -EINVAL && *err.text && !triggers.nr,
		   "not --trigger %s", bad[i]);
	ok(!triggers_add(&triggers, "n.1=exec:a,b=c,max=3,every=2s,then=stop,after=5ms,"
			 "holdoff=1m", &err),
	   "a command with a comma, and all options");
	trigger = &triggers.list[0];
	ok(!strcmp(trigger->what, "a,b=c") && trigger->max == 3 && trigger->every == 2000 &&
	   trigger->stop && !strcmp(trigger->name, "n.1") && trigger->after == 5 &&
	   trigger->holdoff == 60000,
	   "are taken apart");
	ok(!strcmp(trigger->said, "n.1=exec:a,b=c,max=3,every=2s,then=stop,after=5ms,"
		   "holdoff=1m"),
	   "what was given is still known");
	ok(!triggers_add(&triggers, "psi:io full 1 2", &err), "pressure");
	trigger = &triggers.list[1];
	ok(!strcmp(trigger->what, "io") && !strcmp(trigger->spec, "full 1 2") &&
	   !strcmp(trigger->name, "psi") && triggers.nr == 2,
	   "has its name, and the kernel's words");
	triggers_free(&triggers);
	ok(!triggers.nr, "none is left");
}

TEST(session)
{
	struct schedtape_trigger list[STAPE_TRIGGERS_MAX];
	struct triggers triggers = { .nr = 0 };
	struct schedtape_error err;
	int i;

	triggers_add(&triggers, "exec:true", &err);
	ok(!triggers_add(&triggers, "latency:1.5ms", &err) &&
	   !triggers_add(&triggers, "blocked:2s,pid=42,task=w[eb]*", &err) &&
	   !triggers_add(&triggers, "psi:cpu some 1 2", &err) &&
	   !triggers_add(&triggers, "burst:100us", &err) &&
	   !triggers_add(&triggers, "storm=rate:1000/s", &err), "what the module finds");
	ok(triggers_of_session(&triggers, list) == 4 && list[0].kind == STAPE_TRIGGER_LATENCY &&
	   list[0].limit == 1500000 && !list[0].pid && list[1].kind == STAPE_TRIGGER_BLOCKED &&
	   list[1].pid == 42 && !strcmp(list[1].comm, "w[eb]*") && !list[0].comm &&
	   list[2].limit == 100000 && list[3].kind == STAPE_TRIGGER_RATE &&
	   list[3].limit == 1000, "is asked for");
	triggers_fire(&triggers, 2, 123);
	ok(triggers_next(&triggers) == &triggers.list[4] && triggers.list[4].at == 123 &&
	   !strcmp(triggers.list[4].name, "burst"), "and fires by its number");
	triggers_fire(&triggers, 4, 123);
	ok(!triggers_next(&triggers), "there is no such number");
	for (i = 0; i < 4; i++)
		triggers_add(&triggers, "burst:1s", &err);
	ok(triggers_add(&triggers, "burst:1s", &err) == -EINVAL && triggers.nr == 10, "8 at most");
	triggers_free(&triggers);
	ok(!triggers_add(&triggers, "latency:1ns", &err) && triggers.list[0].session.limit == 1 &&
	   !triggers_add(&triggers, "burst:1d", &err), "the least and the longest time");
	triggers_free(&triggers);
}

/* Looks until a command that has been started has ended, and says whether a snapshot is due. */
static const struct trigger *look(struct triggers *triggers)
{
	triggers_look(triggers);
	while (triggers->list[0].pid) {
		usleep(1000);
		triggers_look(triggers);
	}
	return triggers_next(triggers);
}

TEST(firing)
{
	struct triggers triggers = { .nr = 0 };
	struct schedtape_error err;

	triggers_add(&triggers, "exec:true,every=1s,after=100ms,holdoff=5s,max=2", &err);
	ok(!triggers_open(&triggers, &err), "they may fire");
	ok(!triggers_wait(&triggers, 700), "a command is started at once");
	ok(!look(&triggers) && triggers.list[0].fired == 1, "it has fired, but goes on");
	ok(triggers_wait(&triggers, 700) == 100, "100 ms");
	mono.tv_nsec += 100000000;
	ok(triggers_next(&triggers) == &triggers.list[0], "then the snapshot is due");
	ok(!triggers_next(&triggers), "one");
	ok(triggers_wait(&triggers, 5000) == 900, "the command starts again after a second");
	mono.tv_sec += 1;
	ok(!look(&triggers) && triggers.list[0].fired == 1, "it does not fire again so soon");
	mono.tv_sec += 4;
	ok(!look(&triggers) && triggers.list[0].fired == 2, "later it does");
	mono.tv_sec += 6;
	ok(look(&triggers) && !look(&triggers), "a snapshot is due late, if nobody has looked");
	ok(triggers_wait(&triggers, 700) == 700 && !triggers.list[0].pid,
	   "it has fired twice: the command is not started again");
	mono.tv_sec += 10;
	ok(!look(&triggers) && triggers.list[0].fired == 2, "nor later");
	triggers_free(&triggers);
	triggers_add(&triggers, "exec:false,every=1ms", &err);
	triggers_open(&triggers, &err);
	ok(!look(&triggers) && !triggers.list[0].fired, "a command that fails does not fire");
	triggers_free(&triggers);
	triggers_add(&triggers, "exec:kill -9 $$,every=1ms", &err);
	triggers_open(&triggers, &err);
	ok(!look(&triggers) && !triggers.list[0].fired, "nor does one that is killed");
	triggers_free(&triggers);
}

TEST_MAIN
