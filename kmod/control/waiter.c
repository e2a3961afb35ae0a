// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: files to wait at for some CPUs' rings, so that of several readers
 * only the one whose rings have filled is woken.
 */
#include "control/waiter.h"

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "record/session.h"

static_assert(sizeof(struct stape_stream) == 16);

/**
 * struct stape_stream_file - behind the stream's file
 * @list: in the session's
 * @session: the session
 * @file: the session's, which is held open
 * @cpus: whose rings
 * @wait: readers
 * @wake: wakes them from probes
 */
struct stape_stream_file {
	struct list_head list;
	struct stape_session *session;
	struct file *file;
	cpumask_t cpus;
	wait_queue_head_t wait;
	struct irq_work wake;
};

static void stape_stream_wake(struct irq_work *work)
{
	wake_up_interruptible_all(&container_of(work, struct stape_stream_file, wake)->wait);
}

static __poll_t stape_stream_poll(struct file *file, struct poll_table_struct *wait)
{
	struct stape_stream_file *stream = file->private_data;

	poll_wait(file, &stream->wait, wait);
	return stape_session_poll(stream->session, &stream->cpus);
}

static void stape_stream_free(struct stape_stream_file *stream)
{
	struct stape_session *session = stream->session;
	int cpu;

	mutex_lock(&stape_sessions_lock);
	list_del(&stream->list);
	/* A probe may still be about to queue @wake: the session's will do. */
	for_each_cpu_and(cpu, &stream->cpus, &session->setup.cpus) {
		struct stape_ring *ring = per_cpu_ptr(session->rings, cpu);

		if (ring->wake == &stream->wake)
			WRITE_ONCE(ring->wake, &session->wake);
	}
	mutex_unlock(&stape_sessions_lock);
	synchronize_rcu();
	irq_work_sync(&stream->wake);
	fput(stream->file);
	kfree(stream);
}

static int stape_stream_release(struct inode *inode, struct file *file)
{
	stape_stream_free(file->private_data);
	return 0;
}

static const struct file_operations stape_stream_fops = {
	.owner = THIS_MODULE,
	.poll = stape_stream_poll,
	.release = stape_stream_release,
	.llseek = noop_llseek,
};

/* A mask of bytes, whatever this machine's words are. */
static int stape_stream_cpus(cpumask_t *cpus, const struct stape_stream *request)
{
	unsigned int n = min_t(unsigned int, request->bytes, DIV_ROUND_UP(nr_cpu_ids, 8));
	u8 *bytes;

	bytes = memdup_user(u64_to_user_ptr(request->cpus), n);
	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	stape_session_cpus(cpus, bytes, n);
	kfree(bytes);
	return cpumask_empty(cpus) ? -EINVAL : 0;
}

/* Lets the rings wake the stream's readers. */
static int stape_stream_attach(struct stape_stream_file *stream)
{
	struct stape_session *session = stream->session;
	int cpu, ret = 0;

	mutex_lock(&stape_sessions_lock);
	if (session->state == STAPE_SESSION_NEW)
		ret = -ENODATA;
	else if (session->state != STAPE_SESSION_READY)
		ret = -EBUSY;
	if (ret)
		goto out;
	list_add(&stream->list, &session->streams);
	for_each_cpu_and(cpu, &stream->cpus, &session->setup.cpus)
		WRITE_ONCE(per_cpu_ptr(session->rings, cpu)->wake, &stream->wake);
out:
	mutex_unlock(&stape_sessions_lock);
	return ret;
}

/**
 * stape_stream_create() - STAPE_IOC_STREAM
 * @session: a session with rings that does not record yet
 * @file: its file
 * @arg: user pointer to a struct stape_stream
 *
 * Context: may sleep.
 * Return: 0; -EFAULT, -EINVAL (no such CPU), -ENODATA (no rings), -EBUSY
 * (started), -ENOMEM, -EMFILE.
 */
long stape_stream_create(struct stape_session *session, struct file *file, void __user *arg)
{
	struct stape_stream_file *stream;
	struct stape_stream request;
	struct file *anon;
	int fd, ret;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	stream = kzalloc(sizeof(*stream), GFP_KERNEL_ACCOUNT);
	if (!stream)
		return -ENOMEM;
	stream->session = session;
	init_waitqueue_head(&stream->wait);
	init_irq_work(&stream->wake, stape_stream_wake);
	ret = stape_stream_cpus(&stream->cpus, &request);
	if (!ret)
		ret = stape_stream_attach(stream);
	if (ret) {
		kfree(stream);
		return ret;
	}
	stream->file = get_file(file);

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		ret = fd;
		goto err_fd;
	}
	anon = anon_inode_getfile("[schedtape-stream]", &stape_stream_fops, stream,
				  O_RDONLY | O_CLOEXEC);
	if (IS_ERR(anon)) {
		ret = PTR_ERR(anon);
		goto err_file;
	}
	request.fd = fd;
	if (copy_to_user(arg, &request, sizeof(request))) {
		put_unused_fd(fd);
		fput(anon);	/* frees the stream */
		return -EFAULT;
	}
	fd_install(fd, anon);
	return 0;

err_file:
	put_unused_fd(fd);
err_fd:
	stape_stream_free(stream);
	return ret;
}

/**
 * stape_streams_wake() - wake the readers of all streams
 * @session: a session
 *
 * Context: under stape_sessions_lock; process.
 */
void stape_streams_wake(struct stape_session *session)
{
	struct stape_stream_file *stream;

	list_for_each_entry(stream, &session->streams, list)
		wake_up_interruptible_all(&stream->wait);
}
