// SPDX-License-Identifier: GPL-2.0-only
#include "sample/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/first-line.h"
#include "common/output.h"
#include "common/rights.h"
#include "common/units.h"

#define TASK_TIME	"task-time"

/* The names that perf has for them. */
static const struct known {
	const char *name;
	const char *other;
	uint32_t type;
	uint64_t config;
} known[] = {
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
};

#define NR_KNOWN	(sizeof(known) / sizeof(*known))

/* -- names ----------------------------------------------------------------- */

static bool is_name(const char *name, const char *text, size_t len)
{
	return name && strlen(name) == len && !strncmp(name, text, len);
}

static const struct known *find_known(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < NR_KNOWN; i++)
		if (is_name(known[i].name, text, len) || is_name(known[i].other, text, len))
			return &known[i];
	return NULL;
}

/* "r1a8": a number of the processor's manual. */
static bool parse_raw(struct sample_event *event, const char *text, size_t len)
{
	char *end;

	if (text[0] != 'r' || !isxdigit((unsigned char)text[1]))
		return false;
	event->type = PERF_TYPE_RAW;
	event->config = strtoull(text + 1, &end, 16);
	return end == text + len;
}

/* ":u", ":k" and ":uk" behind a name. */
static bool parse_modifiers(struct sample_event *event, const char *text)
{
	size_t len = strlen(text);

	if (!len)
		return true;
	if (len < 2 || text[0] != ':' || strspn(text + 1, "uk") != len - 1)
		return false;
	event->exclude_user = !strchr(text, 'u');
	event->exclude_kernel = !strchr(text, 'k');
	return true;
}

/* "sched:sched_switch" */
static bool is_tracepoint(const char *text)
{
	const char *name = strchr(text, ':');

	return name && name > text && name[1] && !strchr(name + 1, ':') && !strchr(text, '/');
}

static bool parse_one(struct sample_event *event)
{
	size_t len = strcspn(event->name, ":");
	const struct known *found = find_known(event->name, len);

	if (is_name(TASK_TIME, event->name, len)) {
		event->task_time = true;
		event->is_time = true;
		return !event->name[len];
	}
	if (found) {
		event->type = found->type;
		event->config = found->config;
		event->is_time = found->type == PERF_TYPE_SOFTWARE &&
				 (found->config == PERF_COUNT_SW_TASK_CLOCK ||
				  found->config == PERF_COUNT_SW_CPU_CLOCK);
		return parse_modifiers(event, event->name + len);
	}
	if (parse_raw(event, event->name, len))
		return parse_modifiers(event, event->name + len);
	event->type = PERF_TYPE_TRACEPOINT;
	event->tracepoint = is_tracepoint(event->name);
	return event->tracepoint;
}

int events_parse(struct sample_events *events, const char *text, char **wrong)
{
	struct sample_event *list;
	size_t len;

	*wrong = NULL;
	do {
		len = strcspn(text, ",");
		list = realloc(events->list, (events->nr + 1) * sizeof(*list));
		if (!list)
			return -ENOMEM;
		events->list = list;
		list += events->nr;
		*list = (struct sample_event){ .name = strndup(text, len) };
		if (!list->name)
			return -ENOMEM;
		events->nr++;
		if (!parse_one(list)) {
			*wrong = strdup(list->name);
			return -EINVAL;
		}
		text += len;
	} while (*text++ == ',');
	return 0;
}

bool events_parse_count(const struct sample_event *event, const char *text, uint64_t *count)
{
	char *end;

	if (event->is_time && units_time_ns(text, count))
		return true;
	errno = 0;
	*count = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *count && *count < 1ULL << 62;
}

/* -- tracepoints ----------------------------------------------------------- */

static int find_tracepoint(struct sample_event *event)
{
	static const char * const folders[] = {
		"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events",
	};
	int len = strcspn(event->name, ":");
	char path[512], id[24];
	bool there = false;
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		there = there || !access(folders[i], X_OK);
		snprintf(path, sizeof(path), "%s/%.*s/%s/id", folders[i], len, event->name,
			 event->name + len + 1);
		if (!first_line_read(path, id, sizeof(id)))
			continue;
		event->config = strtoull(id, NULL, 10);
		return 0;
	}
	if (there)
		out_error(NULL, "--event %s: the kernel has no such tracepoint; see the folders in "
			  "%s", event->name, folders[0]);
	else
		out_error(NULL, "--event %s: %s cannot be read: use sudo, or mount tracefs there",
			  event->name, folders[0]);
	return there ? -ENOENT : -EACCES;
}

int events_find(struct sample_events *events)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < events->nr && !ret; i++)
		if (events->list[i].tracepoint)
			ret = find_tracepoint(&events->list[i]);
	return ret;
}

/* -- those that are missing ------------------------------------------------ */

/* Returns true if this machine can count an event. */
static bool has(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int events_say_missing(const struct sample_event *event, int error)
{
	char list[512] = TASK_TIME;
	size_t i, len;

	if (error == EACCES || error == EPERM) {
		rights_say_perf("--event");
		return -error;
	}
	if (error == EMFILE || error == ENFILE) {
		out_error(NULL, "--event: too many open files: each event needs one for each CPU: "
			  "raise \"ulimit -n\"");
		return -error;
	}
	/* The kernel begins to count for cgroups when a controller is first enabled for one. */
	if (error == ENOENT && has(event->type, event->config)) {
		out_error(NULL, "--event %s: cgroups have no perf events before a controller is "
			  "enabled: write +cpu into cgroup.subtree_control of the first one, or "
			  "take " TASK_TIME, event->name);
		return -error;
	}
	for (i = 0; i < NR_KNOWN; i++) {
		len = strlen(list);
		if (has(known[i].type, known[i].config))
			snprintf(list + len, sizeof(list) - len, ", %s", known[i].name);
	}
	out_error(NULL, "--event %s: this machine cannot count it (%s); it has %s, and tracepoints",
		  event->name, strerror(error), list);
	return -error;
}

void events_free(struct sample_events *events)
{
	size_t i;

	for (i = 0; i < events->nr; i++)
		free(events->list[i].name);
	free(events->list);
	*events = (struct sample_events){ 0 };
}
