// SPDX-License-Identifier: GPL-2.0-only
#include "common/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/output.h"

#define OPT_BY		0x5300

static const struct argp_option options[] = {
	{ "by", OPT_BY, "task|comm|process|cgroup|cpu|policy", 0, "A line for each of these", 0 },
	{ 0 }
};

static const char * const words[GROUPS_NR] = {
	[GROUPS_TASK] = "task",
	[GROUPS_COMM] = "comm",
	[GROUPS_PROCESS] = "process",
	[GROUPS_CGROUP] = "cgroup",
	[GROUPS_CPU] = "cpu",
	[GROUPS_POLICY] = "policy",
};

const char *groups_by_name(enum groups_by by)
{
	return words[by];
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	enum groups_by *by = state->input;
	size_t i;

	if (key != OPT_BY)
		return ARGP_ERR_UNKNOWN;
	for (i = 0; i < GROUPS_NR; i++) {
		if (strcmp(arg, words[i]))
			continue;
		*by = i;
		return 0;
	}
	argp_error(state, "--by: not task, comm, process, cgroup, cpu or policy: '%s'", arg);
	return 0;
}

const struct argp groups_argp = { .options = options, .parser = parse };

/* What the tasks of a group have in common. */
struct key {
	uint64_t words[2];
};

_Static_assert(sizeof(struct key) == STAPE_COMM_LEN, "a name is a key");

static struct key key_of(const struct groups *groups, uint32_t number)
{
	const struct groups_task *task = &groups->tasks[number];
	struct key key = { { 0 } };

	switch (groups->by) {
	case GROUPS_COMM:
		memcpy(&key, task->comm, sizeof(key));
		break;
	case GROUPS_PROCESS:
		key.words[0] = task->process;
		break;
	case GROUPS_CGROUP:
		key.words[0] = task->cgroup;
		break;
	case GROUPS_POLICY:
		key.words[0] = task->policy;
		break;
	default:
		key.words[0] = number;
	}
	return key;
}

/**
 * struct slots - a hash of keys, with open addressing
 * @numbers: of the groups, plus 1; 0: free
 * @mask: number of slots minus 1; there are at least twice as many as tasks
 */
struct slots {
	uint32_t *numbers;
	size_t mask;
};

/* Returns the slot of the key, or the free one where it belongs. */
static uint32_t *find_slot(const struct groups *groups, const struct slots *slots,
			   const struct key *key)
{
	uint64_t hash = (key->words[0] ^ key->words[1] * 31) * 0x9e3779b97f4a7c15ULL;
	size_t at = (hash >> 20) & slots->mask;
	struct key other;

	for (; slots->numbers[at]; at = (at + 1) & slots->mask) {
		other = key_of(groups, groups->groups[slots->numbers[at] - 1].task);
		if (!memcmp(&other, key, sizeof(other)))
			break;
	}
	return &slots->numbers[at];
}

static void add_task(struct groups *groups, const struct slots *slots, uint32_t task)
{
	const struct key key = key_of(groups, task);
	uint32_t *slot = find_slot(groups, slots, &key);

	if (!*slot) {
		groups->groups[groups->nr++] = (struct group){ .task = task };
		*slot = groups->nr;
	}
	groups->numbers[task] = *slot - 1;
}

bool groups_selects(const struct groups *groups, uint32_t task)
{
	const struct groups_task *of = &groups->tasks[task];
	const struct selection_task identity = {
		.pid = of->pid, .tgid = of->tgid, .comm = of->comm, .cgroup = of->cgroup,
	};

	return selection_has_task(groups->selection, &identity);
}

static int add_tasks(struct groups *groups)
{
	struct slots slots = { .mask = 15 };
	size_t i;

	groups->nr_numbers = groups->nr_tasks;
	while (slots.mask < 2 * groups->nr_numbers)
		slots.mask = 2 * slots.mask + 1;
	slots.numbers = calloc(slots.mask + 1, sizeof(*slots.numbers));
	groups->numbers = calloc(groups->nr_numbers + 1, sizeof(*groups->numbers));
	groups->groups = calloc(groups->nr_numbers + 1, sizeof(*groups->groups));
	if (!slots.numbers || !groups->numbers || !groups->groups) {
		free(slots.numbers);
		return -ENOMEM;
	}
	for (i = 0; i < groups->nr_numbers; i++) {
		groups->numbers[i] = SCHEDTAPE_NONE;
		if (groups_selects(groups, i))
			add_task(groups, &slots, i);
	}
	free(slots.numbers);
	return 0;
}

/* Begins with room for the tasks.  Returns 0 or -ENOMEM. */
static int begin(struct groups *groups, enum groups_by by, const struct selection *selection,
		 size_t nr_tasks)
{
	*groups = (struct groups){ .by = by, .selection = selection, .nr_tasks = nr_tasks };
	groups->tasks = calloc(nr_tasks + 1, sizeof(*groups->tasks));
	return groups->tasks ? 0 : -ENOMEM;
}

static int make(struct groups *groups, struct schedtape_tape *tape)
{
	int ret;

	if (groups->by == GROUPS_CPU)
		return 0;
	ret = add_tasks(groups);
	if (!ret && groups->by == GROUPS_CGROUP && tape)
		ret = schedtape_cgroup_table_read(&groups->cgroups, tape);
	if (ret)
		groups_free(groups);
	return ret;
}

int groups_make(struct groups *groups, enum groups_by by, const struct selection *selection,
		struct schedtape_tape *tape, const struct schedtape_timeline *timeline)
{
	size_t i, n;
	const struct schedtape_task *from = schedtape_timeline_tasks(timeline, &n);

	if (begin(groups, by, selection, n))
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		groups->tasks[i] = (struct groups_task){
			.cgroup = from[i].cgroup, .pid = from[i].pid, .tgid = from[i].tgid,
			.process = from[i].process,
			.policy = from[i].prio_known ? from[i].policy : IDENTITY_NO_POLICY,
		};
		memcpy(groups->tasks[i].comm, from[i].comm, STAPE_COMM_LEN);
	}
	return make(groups, tape);
}

int groups_make_of_table(struct groups *groups, enum groups_by by,
			 const struct selection *selection, struct schedtape_tape *tape,
			 const struct task_table *table)
{
	uint32_t i;

	if (begin(groups, by, selection, table->nr))
		return -ENOMEM;
	for (i = 0; i < table->nr; i++) {
		const struct task_entry *from = &table->tasks[i];

		groups->tasks[i] = (struct groups_task){
			.cgroup = from->cgroup, .pid = from->pid, .tgid = from->tgid,
			.process = from->process, .policy = from->policy,
		};
		memcpy(groups->tasks[i].comm, from->comm, STAPE_COMM_LEN);
	}
	return make(groups, tape);
}

int groups_make_of_tasks(struct groups *groups, enum groups_by by,
			 const struct selection *selection, const struct groups_task *tasks,
			 size_t n)
{
	if (begin(groups, by, selection, n))
		return -ENOMEM;
	if (n)
		memcpy(groups->tasks, tasks, n * sizeof(*tasks));
	return make(groups, NULL);
}

uint32_t groups_of_cpu(struct groups *groups, uint32_t cpu)
{
	uint32_t *numbers;
	struct group *all;

	if (cpu >= groups->nr_numbers) {
		numbers = reallocarray(groups->numbers, cpu + 1, sizeof(*numbers));
		if (!numbers)
			return SCHEDTAPE_NONE;
		groups->numbers = numbers;
		for (; groups->nr_numbers <= cpu; groups->nr_numbers++)
			numbers[groups->nr_numbers] = SCHEDTAPE_NONE;
	}
	if (groups->numbers[cpu] != SCHEDTAPE_NONE)
		return groups->numbers[cpu];
	all = reallocarray(groups->groups, groups->nr + 1, sizeof(*all));
	if (!all)
		return SCHEDTAPE_NONE;
	groups->groups = all;
	all[groups->nr] = (struct group){ .task = cpu };
	groups->numbers[cpu] = groups->nr;
	return groups->nr++;
}

uint32_t groups_of(struct groups *groups, uint32_t task, uint32_t cpu, int *rc)
{
	uint32_t number;

	if (groups->by != GROUPS_CPU)
		return groups->numbers[task];
	if (!groups_selects(groups, task))
		return SCHEDTAPE_NONE;
	number = groups_of_cpu(groups, cpu);
	if (number == SCHEDTAPE_NONE)
		*rc = -ENOMEM;
	return number;
}

void groups_count(struct groups *groups, size_t number, uint32_t task)
{
	struct group *group = &groups->groups[number];

	if (!group->nr_tasks++ && groups->by != GROUPS_CPU)
		group->task = task;
}

static const char *label_cgroup(const struct groups *groups, uint64_t id,
				char buffer[GROUPS_LABEL])
{
	const struct schedtape_cgroup_state *cgroup = schedtape_cgroup_by_id(&groups->cgroups, id);

	if (!id)
		return "?";
	if (cgroup)
		return text_safe(buffer, GROUPS_LABEL, cgroup->path);
	snprintf(buffer, GROUPS_LABEL, "id:%" PRIu64, id);
	return buffer;
}

const char *groups_label(const struct groups *groups, size_t number, char buffer[GROUPS_LABEL])
{
	const struct group *group = &groups->groups[number];
	const struct groups_task *task = groups->tasks + group->task;

	switch (groups->by) {
	case GROUPS_COMM:
		if (group->nr_tasks == 1)
			break;
		text_name(buffer, task->comm);
		snprintf(buffer + strlen(buffer), GROUPS_LABEL - TEXT_NAME_LEN, ":(%" PRIu32 ")",
			 group->nr_tasks);
		return buffer;
	case GROUPS_PROCESS:
		return text_task(buffer, groups->tasks[task->process].comm, task->tgid);
	case GROUPS_CGROUP:
		return label_cgroup(groups, task->cgroup, buffer);
	case GROUPS_CPU:
		snprintf(buffer, GROUPS_LABEL, "CPU %" PRIu32, group->task);
		return buffer;
	case GROUPS_POLICY:
		if (task->policy == IDENTITY_NO_POLICY)
			return "?";
		return schedtape_policy_name(task->policy);
	default:
		break;
	}
	return text_task(buffer, task->comm, task->pid);
}

void groups_free(struct groups *groups)
{
	free(groups->tasks);
	free(groups->numbers);
	free(groups->groups);
	schedtape_cgroup_table_free(&groups->cgroups);
	*groups = (struct groups){ 0 };
}
