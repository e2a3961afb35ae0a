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

/* Returns NULL if the path is not known. */
static const struct schedtape_cgroup_state *find_cgroup(const struct groups *groups, uint64_t id)
{
	return groups->cgroups ? schedtape_cgroup_by_id(groups->cgroups, id) : NULL;
}

/* Returns an id that all cgroups with this one's path have in common: one may follow another. */
static uint64_t same_cgroup(const struct groups *groups, uint64_t id)
{
	const struct schedtape_cgroup_state *cgroup = find_cgroup(groups, id);

	return cgroup ? schedtape_cgroup_by_path(groups->cgroups, cgroup->path)->id : id;
}

/* What the tasks of a group have in common. */
struct key {
	uint64_t words[2];
};

_Static_assert(sizeof(struct key) == STAPE_COMM_LEN, "a name is a key");

static struct key key_of(const struct groups *groups, uint32_t number)
{
	const struct task_entry *task = &groups->tasks[number];
	struct key key = { { 0 } };

	switch (groups->by) {
	case GROUPS_COMM:
		memcpy(&key, task->comm, sizeof(key));
		break;
	case GROUPS_PROCESS:
		key.words[0] = task->process;
		break;
	case GROUPS_CGROUP:
		key.words[0] = same_cgroup(groups, task->cgroup);
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
	const struct task_entry *of = &groups->tasks[task], *leader = &groups->tasks[of->process];
	const struct selection_task identity = {
		.pid = of->pid, .tgid = of->tgid, .ns_pid = of->ns_pid,
		.ns_tgid = leader->pid == of->tgid ? leader->ns_pid : 0,
		.comm = of->comm, .cgroup = of->cgroup,
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
	*groups = (struct groups){
		.by = by, .selection = selection, .nr_tasks = nr_tasks, .nowhere = SCHEDTAPE_NONE,
	};
	groups->tasks = calloc(nr_tasks + 1, sizeof(*groups->tasks));
	groups->counted = calloc(nr_tasks + 1, sizeof(*groups->counted));
	if (groups->tasks && groups->counted)
		return 0;
	groups_free(groups);
	return -ENOMEM;
}

static int compare_processes(const void *left, const void *right, void *arg)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct task_entry *tasks = arg;

	if (tasks[a].tgid != tasks[b].tgid)
		return tasks[a].tgid < tasks[b].tgid ? -1 : 1;
	return tasks[a].order < tasks[b].order ? -1 : tasks[a].order > tasks[b].order;
}

/*
 * Puts a thread whose leader had ended, or is not on the tape, into its process.  Puts a leader
 * into the process of the thread that has taken its PID.  @numbers: all @n leaders and such threads
 * of a TGID, in order
 */
static void join_threads(struct groups *groups, const uint32_t *numbers, size_t n)
{
	struct task_entry *tasks = groups->tasks;
	uint32_t leader = SCHEDTAPE_NONE;
	size_t i, first = 0;

	for (i = 0; i <= n; i++) {
		const struct task_entry *task = i < n ? &tasks[numbers[i]] : NULL;
		bool leads = task && task->pid == task->tgid;

		/* The PID is that of another process from there on. */
		if (!task || (leads && !task->took_pid && leader != SCHEDTAPE_NONE)) {
			for (; first < i; first++)
				tasks[numbers[first]].process =
					leader == SCHEDTAPE_NONE ? numbers[0] : leader;
		}
		if (leads)
			leader = numbers[i];
	}
}

/* Finds the process of each task.  Returns 0 or -ENOMEM. */
static int find_processes(struct groups *groups)
{
	uint32_t *numbers = calloc(groups->nr_tasks + 1, sizeof(*numbers));
	struct task_entry *tasks = groups->tasks;
	size_t i, first = 0, n = 0;

	if (!numbers)
		return -ENOMEM;
	for (i = 0; i < groups->nr_tasks; i++)
		if (tasks[i].process == i)
			numbers[n++] = i;
	qsort_r(numbers, n, sizeof(*numbers), compare_processes, tasks);
	for (i = 1; i <= n; i++) {
		if (i < n && tasks[numbers[i]].tgid == tasks[numbers[first]].tgid)
			continue;
		if (i - first > 1)
			join_threads(groups, numbers + first, i - first);
		first = i;
	}
	/* Threads that these had forked. */
	for (i = 0; i < groups->nr_tasks; i++)
		tasks[i].process = tasks[tasks[i].process].process;
	free(numbers);
	return 0;
}

static int make(struct groups *groups, struct schedtape_tape *tape)
{
	int ret = 0;

	if (groups->by == GROUPS_CPU)
		return 0;
	if (groups->by == GROUPS_PROCESS)
		ret = find_processes(groups);
	if (groups->by == GROUPS_CGROUP && tape) {
		ret = schedtape_cgroup_table_read(&groups->own_cgroups, tape);
		groups->cgroups = &groups->own_cgroups;
	}
	if (!ret)
		ret = add_tasks(groups);
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
		groups->tasks[i] = (struct task_entry){
			.cgroup = from[i].cgroup, .pid = from[i].pid, .tgid = from[i].tgid,
			.ns_pid = from[i].ns_pid, .process = from[i].process,
			.policy = from[i].prio_known ? from[i].policy : IDENTITY_NO_POLICY,
			.order = i, .took_pid = groups_took_pid(&from[i]),
		};
		memcpy(groups->tasks[i].comm, from[i].comm, STAPE_COMM_LEN);
	}
	return make(groups, tape);
}

/* Begins with a copy of the tasks.  Returns 0 or -ENOMEM. */
static int begin_with(struct groups *groups, enum groups_by by, const struct selection *selection,
		      const struct task_entry *tasks, size_t n)
{
	int ret = begin(groups, by, selection, n);

	if (!ret && n)
		memcpy(groups->tasks, tasks, n * sizeof(*tasks));
	return ret;
}

int groups_make_of_table(struct groups *groups, enum groups_by by,
			 const struct selection *selection, struct schedtape_tape *tape,
			 const struct task_table *table)
{
	int ret = begin_with(groups, by, selection, table->tasks, table->nr);

	return ret ? ret : make(groups, tape);
}

int groups_make_of_tasks(struct groups *groups, enum groups_by by,
			 const struct selection *selection, const struct task_entry *tasks,
			 size_t n, const struct schedtape_cgroup_table *cgroups)
{
	int ret = begin_with(groups, by, selection, tasks, n);

	if (ret)
		return ret;
	groups->cgroups = cgroups;
	return make(groups, NULL);
}

/* Returns where the number of a CPU's group is; NULL: no memory. */
static uint32_t *number_of_cpu(struct groups *groups, uint32_t cpu)
{
	uint32_t *numbers;

	if (cpu == STAPE_CPU_NONE)
		return &groups->nowhere;
	if (cpu < groups->nr_numbers)
		return &groups->numbers[cpu];
	numbers = reallocarray(groups->numbers, (size_t)cpu + 1, sizeof(*numbers));
	if (!numbers)
		return NULL;
	groups->numbers = numbers;
	for (; groups->nr_numbers <= cpu; groups->nr_numbers++)
		numbers[groups->nr_numbers] = SCHEDTAPE_NONE;
	return &numbers[cpu];
}

uint32_t groups_of_cpu(struct groups *groups, uint32_t cpu)
{
	uint32_t *number = number_of_cpu(groups, cpu);
	struct group *all;

	if (!number || *number != SCHEDTAPE_NONE)
		return number ? *number : SCHEDTAPE_NONE;
	all = reallocarray(groups->groups, groups->nr + 1, sizeof(*all));
	if (!all)
		return SCHEDTAPE_NONE;
	groups->groups = all;
	all[groups->nr] = (struct group){ .task = cpu };
	*number = groups->nr;
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
	bool again = groups->counted[task];

	groups->counted[task] = true;
	groups->nr_counted += !again;
	if (groups->by == GROUPS_CPU)
		group->nr_tasks++;
	else if (!again && !group->nr_tasks++)
		group->task = task;
}

static const char *label_cgroup(const struct groups *groups, uint64_t id,
				char buffer[GROUPS_LABEL])
{
	const struct schedtape_cgroup_state *cgroup = find_cgroup(groups, id);

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
	const struct task_entry *task, *leader;

	if (groups->by == GROUPS_CPU) {
		if (group->task == STAPE_CPU_NONE)
			return "CPU ?";
		snprintf(buffer, GROUPS_LABEL, "CPU %" PRIu32, group->task);
		return buffer;
	}
	task = &groups->tasks[group->task];
	switch (groups->by) {
	case GROUPS_COMM:
		if (group->nr_tasks == 1)
			break;
		text_name(buffer, task->comm);
		snprintf(buffer + strlen(buffer), GROUPS_LABEL - TEXT_NAME_LEN, ":(%" PRIu32 ")",
			 group->nr_tasks);
		return buffer;
	case GROUPS_PROCESS:
		leader = &groups->tasks[task->process];
		return text_task(buffer, leader->pid == leader->tgid ? leader->comm : "",
				 task->tgid);
	case GROUPS_CGROUP:
		return label_cgroup(groups, task->cgroup, buffer);
	case GROUPS_POLICY:
		if (task->policy == IDENTITY_NO_POLICY)
			return "?";
		return schedtape_policy_name(task->policy);
	default:
		break;
	}
	return text_task(buffer, task->comm, task->pid);
}

uint32_t groups_only_task(const struct groups *groups, const struct group *group)
{
	return group->nr_tasks == 1 && groups->by != GROUPS_CPU ? group->task : SCHEDTAPE_NONE;
}

int groups_fill(union sheet_value *row, const struct groups_columns *columns,
		const struct groups *groups, const struct group *group)
{
	uint32_t task = group ? groups_only_task(groups, group) : SCHEDTAPE_NONE;
	bool known = task != SCHEDTAPE_NONE;
	char label[GROUPS_LABEL];

	row[columns->tasks].n = group ? group->nr_tasks : groups->nr_counted;
	if (columns->tgid)
		row[columns->tgid].n = known ? groups->tasks[task].tgid : SHEET_NONE;
	row[columns->pid].n = known ? groups->tasks[task].pid : SHEET_NONE;
	row[0].text = strdup(group ? groups_label(groups, group - groups->groups, label) : "TOTAL");
	return row[0].text ? 0 : -ENOMEM;
}

void groups_free(struct groups *groups)
{
	free(groups->tasks);
	free(groups->numbers);
	free(groups->groups);
	free(groups->counted);
	schedtape_cgroup_table_free(&groups->own_cgroups);
	*groups = (struct groups){ 0 };
}
