// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The data side: a session is an open /dev/schedtape with mapped rings.
 */
#include <schedtape/client.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netlink/genl/genl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "module/client-internal.h"
#include "module/tasks.h"
#include "module/versions.h"
#include "base/error.h"
#include "base/list.h"
#include "base/sized.h"

struct ring {
	struct stape_ring_consumer *consumer;
	const struct stape_ring_producer *producer;
	const unsigned char *pages;
	uint32_t nr_pages;
};

/* Returns the size of a ring's read-only part. */
static size_t ring_ro_size(uint32_t pages)
{
	return getpagesize() + (size_t)pages * STAPE_PAGE_SIZE;
}

int schedtape_session_open(struct schedtape_client *client, struct schedtape_session **session,
			   struct schedtape_error *err)
{
	struct schedtape_session *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	s->client = client;
	s->fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC);
	if (s->fd < 0) {
		ret = schedtape_fail(err, -errno, "/dev/schedtape: %s%s", strerror(errno),
				     errno == EACCES ?
				     ": needs root, or CAP_PERFMON and access to the file" :
				     errno == EPERM ? ": the kernel is in lockdown" : "");
		goto err;
	}
	if (ioctl(s->fd, STAPE_IOC_INFO, &s->info)) {
		ret = schedtape_fail(err, -errno, "/dev/schedtape: %s", strerror(errno));
		goto err;
	}
	ret = versions_check(s->info.wire_version, err);
	if (!ret && s->info.page_size != STAPE_PAGE_SIZE)
		ret = schedtape_fail(err, -EPROTO, "/dev/schedtape: a page has %u bytes, not %d",
				     s->info.page_size, STAPE_PAGE_SIZE);
	if (ret)
		goto err;
	*session = s;
	return 0;
err:
	schedtape_session_close(s);
	return ret;
}

void schedtape_session_close(struct schedtape_session *session)
{
	const struct ring *ring;
	uint32_t n;

	if (!session)
		return;
	for (n = 0; session->rings && n <= session->info.nr_cpus; n++) {
		ring = &session->rings[n];
		if (!ring->consumer)
			continue;
		munmap(ring->consumer, getpagesize());
		munmap((void *)ring->producer, ring_ro_size(ring->nr_pages));
	}
	free(session->rings);
	nl_socket_free(session->monitor);
	if (session->fd >= 0)
		close(session->fd);
	free(session);
}

int schedtape_session_fd(const struct schedtape_session *session)
{
	return session->fd;
}

uint32_t schedtape_session_id(const struct schedtape_session *session)
{
	return session->info.id;
}

uint32_t schedtape_session_cpus(const struct schedtape_session *session)
{
	return session->info.nr_cpus;
}

uint32_t schedtape_session_ring_pages(const struct schedtape_session *session)
{
	return session->info.ring_pages;
}

/*
 * Maps a ring.  CPUs that are not possible (EINVAL), or not in the session's mask (ENXIO), have
 * no ring: not an error.
 */
static int session_map(struct schedtape_session *session, uint32_t n)
{
	off_t offset = (off_t)(n * session->info.ring_stride);
	uint32_t nr_pages = n < session->info.nr_cpus ? session->info.ring_pages :
							session->info.description_pages;
	long page = getpagesize();
	void *rw, *ro;

	rw = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, session->fd, offset);
	if (rw == MAP_FAILED)
		return errno == EINVAL || errno == ENXIO ? 0 : -errno;
	ro = mmap(NULL, ring_ro_size(nr_pages), PROT_READ, MAP_SHARED | MAP_POPULATE,
		  session->fd, offset + page);
	if (ro == MAP_FAILED) {
		munmap(rw, page);
		return -errno;
	}
	session->rings[n] = (struct ring) {
		.consumer = rw,
		.producer = ro,
		.pages = (unsigned char *)ro + page,
		.nr_pages = nr_pages,
	};
	return 0;
}

static int session_map_all(struct schedtape_session *session, struct schedtape_error *err)
{
	uint32_t n;
	int ret = 0;

	if (ioctl(session->fd, STAPE_IOC_INFO, &session->info))
		return schedtape_fail(err, -errno, "/dev/schedtape: %s", strerror(errno));
	session->rings = calloc(session->info.nr_cpus + 1, sizeof(*session->rings));
	if (!session->rings)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	for (n = 0; n <= session->info.nr_cpus && !ret; n++)
		ret = session_map(session, n);
	return ret ? schedtape_fail(err, ret, "mapping ring %u of %u: %s", n,
				    session->info.nr_cpus + 1, strerror(-ret)) : 0;
}

/* Converts bytes to pages: a power of two, 4 at least. */
static int ring_pages(struct schedtape_session *session, uint64_t bytes, uint32_t *pages,
		      struct schedtape_error *err)
{
	struct schedtape_module_info info = { .size = sizeof(info) };
	int ret = schedtape_client_info(session->client, &info, err);

	if (ret)
		return ret;
	*pages = 4;
	while ((uint64_t)*pages * STAPE_PAGE_SIZE < bytes && *pages <= info.ring_pages_max)
		*pages *= 2;
	if (*pages > info.ring_pages_max)
		return schedtape_fail(err, -ERANGE,
				      "a ring of %" PRIu64 " bytes is too large: at most %uM",
				      bytes, info.ring_pages_max / ((1U << 20) / STAPE_PAGE_SIZE));
	return 0;
}

int schedtape_session_set(struct schedtape_session *session,
			  const struct schedtape_session_options *options,
			  struct schedtape_error *err)
{
	struct schedtape_session_options own;
	struct nl_msg *msg;
	uint32_t pages;
	int ret;

	ret = sized_get(&own, sizeof(own), options, "the session's options", err);
	if (!ret)
		ret = ring_pages(session, own.ring_bytes, &pages, err);
	if (ret)
		return ret;
	msg = client_message(session->client, STAPE_CMD_SESSION_SET, 0);
	client_put_u32(&msg, STAPE_A_SESSION_ID, session->info.id);
	client_put_u32(&msg, STAPE_A_SESSION_RING_PAGES, pages);
	if (own.watermark)
		client_put_u32(&msg, STAPE_A_SESSION_WATERMARK, own.watermark);
	if (own.clock)
		client_put_u32(&msg, STAPE_A_SESSION_CLOCK, own.clock);
	if (own.overwrite)
		client_put(&msg, STAPE_A_SESSION_OVERWRITE, NULL, 0);
	if (own.syscalls)
		client_put(&msg, STAPE_A_SESSION_SYSCALLS, NULL, 0);
	if (own.cpus)
		client_put(&msg, STAPE_A_SESSION_CPUS, own.cpus, own.cpus_bytes);
	client_put_triggers(&msg, own.triggers, own.nr_triggers);
	ret = client_request(session->client, msg, NULL, NULL, "rings", err);
	return ret ? ret : session_map_all(session, err);
}

static int request(struct schedtape_session *session, int cmd, client_parse parse, void *arg,
		   struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(session->client, cmd, 0);

	client_put_u32(&msg, STAPE_A_SESSION_ID, session->info.id);
	return client_request_about(session->client, msg, parse, arg, "session",
				    session->info.id, err);
}

int schedtape_session_start(struct schedtape_session *session, struct schedtape_error *err)
{
	return request(session, STAPE_CMD_SESSION_START, NULL, NULL, err);
}

int schedtape_session_pause(struct schedtape_session *session, struct schedtape_error *err)
{
	return request(session, STAPE_CMD_SESSION_PAUSE, NULL, NULL, err);
}

int schedtape_session_stop(struct schedtape_session *session, struct schedtape_error *err)
{
	return request(session, STAPE_CMD_SESSION_STOP, NULL, NULL, err);
}

static int parse_mark(struct nlattr **attrs, void *arg)
{
	*(uint64_t *)arg = client_u64(attrs[STAPE_A_SESSION_INTERVAL_TIME]);
	return 0;
}

int schedtape_session_mark(struct schedtape_session *session, uint64_t number, uint64_t *time,
			   struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(session->client, STAPE_CMD_SESSION_MARK, 0);

	client_put_u32(&msg, STAPE_A_SESSION_ID, session->info.id);
	client_put_u64(&msg, STAPE_A_SESSION_INTERVAL, number);
	return client_request_about(session->client, msg, parse_mark, time, "session",
				    session->info.id, err);
}

static int parse_one_session(struct nlattr **attrs, void *arg)
{
	client_parse_session(attrs, arg);
	return 0;
}

int schedtape_session_get(struct schedtape_session *session,
			  struct schedtape_session_state *state, struct schedtape_error *err)
{
	struct schedtape_session_state own = { .size = sizeof(own) };
	int ret;

	ret = request(session, STAPE_CMD_SESSION_GET, parse_one_session, &own, err);
	return ret ? ret : sized_put(state, &own, sizeof(own), "the session's state", err);
}

int schedtape_session_flush(struct schedtape_session *session, struct schedtape_error *err)
{
	if (ioctl(session->fd, STAPE_IOC_FLUSH))
		return schedtape_fail(err, -errno, "/dev/schedtape: flush: %s", strerror(errno));
	return 0;
}

int schedtape_session_clock(struct schedtape_session *session,
			    struct stape_clock_sample *sample, struct schedtape_error *err)
{
	if (ioctl(session->fd, STAPE_IOC_CLOCK, sample))
		return schedtape_fail(err, -errno, "/dev/schedtape: clock: %s", strerror(errno));
	return 0;
}

int schedtape_session_stream(struct schedtape_session *session, const unsigned char *cpus,
			     size_t bytes, struct schedtape_error *err)
{
	struct stape_stream stream = { .cpus = (uintptr_t)cpus, .bytes = bytes };

	if (ioctl(session->fd, STAPE_IOC_STREAM, &stream))
		return schedtape_fail(err, -errno, "/dev/schedtape: stream: %s", strerror(errno));
	return stream.fd;
}

int schedtape_session_add(struct schedtape_session *session, const uint32_t *pids, size_t n,
			  struct schedtape_error *err)
{
	struct schedtape_filter filter = {
		.size = sizeof(filter),
		.pids = (uint32_t *)pids,
		.nr_pids = n,
	};

	return schedtape_filter_add(session->client, session->info.id, &filter, err);
}

/* -- tasks ----------------------------------------------------------------- */

struct task_list {
	struct schedtape_task_info *tasks;
	size_t n, max;
	struct schedtape_group *groups;
	size_t nr_groups, max_groups;
	unsigned char *affinity;	/* stride bytes a task */
	size_t stride;
	bool failed;
};

static bool task_list_grow(struct task_list *list)
{
	size_t max = list->max ? 2 * list->max : 64;
	void *tasks = realloc(list->tasks, max * sizeof(*list->tasks));
	void *affinity;

	if (!tasks)
		return false;
	list->tasks = tasks;
	affinity = realloc(list->affinity, max * list->stride + 1);
	if (!affinity)
		return false;
	list->affinity = affinity;
	list->max = max;
	return true;
}

/* Notes the autogroup of a task, and its core-scheduling cookie, if it has any. */
static bool parse_group(struct task_list *list, struct nlattr **attrs,
			const struct schedtape_task_info *task)
{
	struct schedtape_group *groups;

	if (!attrs[STAPE_A_TASK_AUTOGROUP] && !attrs[STAPE_A_TASK_CORE])
		return true;
	groups = schedtape_list_grow(list->groups, list->nr_groups, &list->max_groups,
				     sizeof(*groups));
	if (!groups)
		return false;
	list->groups = groups;
	groups[list->nr_groups++] = (struct schedtape_group){
		.time = task->time,
		.start_time = task->start_time,
		.pid = task->pid,
		.autogroup = client_u32(attrs[STAPE_A_TASK_AUTOGROUP]),
		.nice = SCHEDTAPE_NICE_UNKNOWN,
		.core = client_u32(attrs[STAPE_A_TASK_CORE]),
	};
	return true;
}

static int parse_task(struct nlattr **attrs, void *arg)
{
	struct task_list *list = arg;
	struct schedtape_task_info *task;
	size_t bytes = 0;

	list->failed = list->n == list->max && !task_list_grow(list);
	if (list->failed)
		return 1;
	task = &list->tasks[list->n];
	memset(task, 0, sizeof(*task));
	task->pid = client_u32(attrs[STAPE_A_TASK_PID]);
	task->tgid = client_u32(attrs[STAPE_A_TASK_TGID]);
	task->ppid = client_u32(attrs[STAPE_A_TASK_PPID]);
	task->ns_pid = client_u32(attrs[STAPE_A_TASK_NS_PID]);
	task->cpu = client_u32(attrs[STAPE_A_TASK_CPU]);
	task->state = client_u32(attrs[STAPE_A_TASK_STATE]);
	task->policy = client_u32(attrs[STAPE_A_TASK_POLICY]);
	task->nice = client_u32(attrs[STAPE_A_TASK_NICE]);
	task->rt_priority = client_u32(attrs[STAPE_A_TASK_RT_PRIORITY]);
	task->start_time = client_u64(attrs[STAPE_A_TASK_START_TIME]);
	task->cpu_time = client_u64(attrs[STAPE_A_TASK_CPU_TIME]);
	task->time = client_u64(attrs[STAPE_A_TASK_TIME]);
	task->cgroup = client_u64(attrs[STAPE_A_TASK_CGROUP]);
	if (attrs[STAPE_A_TASK_DL_RUNTIME]) {
		task->dl.runtime = client_u64(attrs[STAPE_A_TASK_DL_RUNTIME]);
		task->dl.deadline = client_u64(attrs[STAPE_A_TASK_DL_DEADLINE]);
		task->dl.period = client_u64(attrs[STAPE_A_TASK_DL_PERIOD]);
	} else {
		task->wish.slice = client_u64(attrs[STAPE_A_TASK_SLICE]);
		task->wish.slack = client_u64(attrs[STAPE_A_TASK_SLACK]);
		task->wish.clamps = client_u32(attrs[STAPE_A_TASK_CLAMPS]);
	}
	if (attrs[STAPE_A_TASK_COMM])
		nla_strlcpy(task->comm, attrs[STAPE_A_TASK_COMM], sizeof(task->comm));
	if (attrs[STAPE_A_TASK_AFFINITY]) {
		bytes = nla_len(attrs[STAPE_A_TASK_AFFINITY]);
		if (bytes > list->stride)
			bytes = list->stride;
		memcpy(list->affinity + list->n * list->stride,
		       nla_data(attrs[STAPE_A_TASK_AFFINITY]), bytes);
	}
	task->affinity_bytes = bytes;
	list->n++;
	list->failed = !parse_group(list, attrs, task);
	return list->failed;
}

/* Copies all into one block: the tasks, and their affinities behind them. */
static struct schedtape_task_info *task_list_pack(const struct task_list *list)
{
	struct schedtape_task_info *tasks = malloc(list->n * (sizeof(*tasks) + list->stride) + 1);
	unsigned char *affinity;
	size_t i;

	if (!tasks)
		return NULL;
	affinity = (unsigned char *)(tasks + list->n);
	for (i = 0; i < list->n; i++) {
		tasks[i] = list->tasks[i];
		tasks[i].affinity = affinity + i * list->stride;
		memcpy(affinity + i * list->stride, list->affinity + i * list->stride,
		       tasks[i].affinity_bytes);
	}
	return tasks;
}

/* Asks for the tasks of a session's filter. */
static int request_tasks(struct schedtape_client *client, uint32_t session, client_parse parse,
			 void *arg, struct schedtape_error *err)
{
	struct nl_msg *msg = client_message(client, STAPE_CMD_TASK_GET, NLM_F_DUMP);

	client_put_u32(&msg, STAPE_A_TASK_SESSION, session);
	return client_request_about(client, msg, parse, arg, "tasks of session", session, err);
}

int schedtape_session_groups(struct schedtape_session *session, struct schedtape_task_info **tasks,
			     size_t *n, struct schedtape_group **groups, size_t *nr_groups,
			     struct schedtape_error *err)
{
	struct task_list list = { .stride = (session->info.nr_cpus + 7) / 8 };
	int ret = request_tasks(session->client, session->info.id, parse_task, &list, err);

	*tasks = ret || list.failed ? NULL : task_list_pack(&list);
	*n = list.n;
	if (!ret && !*tasks)
		ret = schedtape_fail(err, -ENOMEM, "out of memory for %zu tasks", list.n);
	*groups = list.groups;
	*nr_groups = list.nr_groups;
	free(list.tasks);
	free(list.affinity);
	return ret;
}

int schedtape_session_tasks(struct schedtape_session *session, struct schedtape_task_info **tasks,
			    size_t *n, struct schedtape_error *err)
{
	struct schedtape_group *groups;
	size_t nr_groups;
	int ret = schedtape_session_groups(session, tasks, n, &groups, &nr_groups, err);

	free(groups);
	return ret;
}

struct client_task_list {
	struct client_task *tasks;
	size_t n, capacity;
	bool failed;
};

static int parse_client_task(struct nlattr **attrs, void *arg)
{
	uint32_t pid = client_u32(attrs[STAPE_A_TASK_PID]);
	struct client_task_list *list = arg;
	struct client_task *tasks;

	tasks = schedtape_list_grow(list->tasks, list->n, &list->capacity, sizeof(*tasks));
	list->failed = !tasks;
	if (!tasks)
		return 1;
	list->tasks = tasks;
	tasks[list->n++] = (struct client_task){
		.pid = pid,
		.tgid = client_u32(attrs[STAPE_A_TASK_TGID]),
		.vpid = client_vpid(attrs[STAPE_A_TASK_VPID], pid),
	};
	return 0;
}

int client_tasks(struct schedtape_client *client, uint32_t session, struct client_task **tasks,
		 size_t *n, struct schedtape_error *err)
{
	struct client_task_list list = { 0 };
	int ret = request_tasks(client, session, parse_client_task, &list, err);

	if (!ret && list.failed)
		ret = schedtape_fail(err, -ENOMEM, "out of memory for %zu tasks", list.n);
	*tasks = list.tasks;
	*n = list.n;
	return ret;
}

/* -- rings ----------------------------------------------------------------- */

/* @cpu: STAPE_CPU_NONE: the descriptions */
static struct ring *session_ring(struct schedtape_session *session, uint32_t cpu)
{
	return &session->rings[cpu == STAPE_CPU_NONE ? session->info.nr_cpus : cpu];
}

size_t schedtape_session_pages(struct schedtape_session *session, uint32_t cpu, size_t max,
			       const void **pages)
{
	const struct ring *ring = session_ring(session, cpu);
	uint64_t head, tail, n, index, size = ring->nr_pages;

	if (!ring->consumer)
		return 0;
	tail = ring->consumer->tail;
	/* Pairs with the module's release of head: the pages below it are complete. */
	head = __atomic_load_n(&ring->producer->head, __ATOMIC_ACQUIRE);
	index = tail & (size - 1);
	n = head - tail;
	if (n > size - index)
		n = size - index;
	if (n > max)
		n = max;
	*pages = ring->pages + index * STAPE_PAGE_SIZE;
	return n;
}

void schedtape_session_consume(struct schedtape_session *session, uint32_t cpu, size_t pages)
{
	struct stape_ring_consumer *consumer = session_ring(session, cpu)->consumer;

	/* Pairs with the module's acquire of tail: our reads of these pages come before. */
	__atomic_store_n(&consumer->tail, consumer->tail + pages, __ATOMIC_RELEASE);
}

uint64_t schedtape_session_published(struct schedtape_session *session, uint32_t cpu)
{
	const struct ring *ring = session_ring(session, cpu);

	return ring->producer ? __atomic_load_n(&ring->producer->head, __ATOMIC_ACQUIRE) : 0;
}

/* Returns the oldest page that is not overwritten now, if @head is read now. */
static uint64_t oldest_page(const struct ring *ring, uint64_t head)
{
	return head < ring->nr_pages ? 0 : head - ring->nr_pages + 1;
}

/* Copies @n pages from number @seq on. */
static void copy_pages(const struct ring *ring, uint64_t seq, size_t n, unsigned char *to)
{
	uint64_t index;
	size_t i;

	for (i = 0; i < n; i++) {
		index = (seq + i) & (ring->nr_pages - 1);
		memcpy(to + i * STAPE_PAGE_SIZE, ring->pages + index * STAPE_PAGE_SIZE,
		       STAPE_PAGE_SIZE);
	}
}

size_t schedtape_session_copy(struct schedtape_session *session, uint32_t cpu, uint64_t *seq,
			      size_t max, void *pages)
{
	const struct ring *ring = session_ring(session, cpu);
	uint64_t head, oldest, n, gone;

	do {
		/* Pairs with the module's release of head: the pages below it are complete. */
		head = schedtape_session_published(session, cpu);
		oldest = head ? oldest_page(ring, head) : 0;
		if (*seq < oldest)
			*seq = oldest;
		if (*seq >= head || !max)
			return 0;
		n = head - *seq < max ? head - *seq : max;
		copy_pages(ring, *seq, n, pages);
		/* Pairs with the module's barrier before it begins to overwrite a page. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		oldest = oldest_page(ring, schedtape_session_published(session, cpu));
		gone = oldest > *seq ? oldest - *seq : 0;
	} while (gone >= n);
	memmove(pages, (unsigned char *)pages + gone * STAPE_PAGE_SIZE,
		(n - gone) * STAPE_PAGE_SIZE);
	*seq += gone;
	return n - gone;
}

bool schedtape_session_cpu(struct schedtape_session *session, uint32_t cpu,
			   struct schedtape_cpu *stats)
{
	const struct stape_ring_producer *producer = session_ring(session, cpu)->producer;

	if (!producer)
		return false;
	memset(stats, 0, sizeof(*stats));
	stats->cpu = cpu;
	stats->events = __atomic_load_n(&producer->events, __ATOMIC_RELAXED);
	stats->lost = __atomic_load_n(&producer->lost, __ATOMIC_RELAXED);
	stats->lost_first = __atomic_load_n(&producer->lost_first, __ATOMIC_RELAXED);
	stats->lost_last = __atomic_load_n(&producer->lost_last, __ATOMIC_RELAXED);
	stats->overwritten = __atomic_load_n(&producer->overwritten, __ATOMIC_RELAXED);
	return true;
}
