// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiter files (STAPE_IOC_STREAM): a file to poll for some of the rings, so that only the reader
 * of these rings is woken when they have filled.
 */
#include "control/internal.h"

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "base/work.h"
#include "record/sessions.h"

static_assert(sizeof(struct stape_stream) == 16);

/**
 * struct stape_waiter_file - private data of a waiter file
 * @waiter: one of the session's
 * @cpus: the waiter's
 * @session: the session
 * @file: the session's file, which is held open
 * @free: frees it
 */
struct stape_waiter_file {
	struct stape_waiter waiter;
	cpumask_t cpus;
	struct stape_session *session;
	struct file *file;
	struct rcu_work free;
};

static void stape_waiter_wake(struct stape_wake *wake)
{
	wake_up_interruptible_all(&container_of(wake, struct stape_waiter, wake)->wait);
}

static __poll_t stape_waiter_poll(struct file *file, struct poll_table_struct *wait)
{
	struct stape_waiter_file *wf = file->private_data;

	return stape_session_poll(wf->session, &wf->waiter, file, wait);
}

/* A grace period after no ring points to the waiter any more.  A probe may have queued @wake. */
static void stape_waiter_free(struct work_struct *work)
{
	struct stape_waiter_file *wf = container_of(to_rcu_work(work), struct stape_waiter_file,
						    free);

	stape_wake_cancel(&wf->waiter.wake);
	kfree(wf);
}

/* Waits for no grace period, because a recorder may have a file for each CPU. */
static int stape_waiter_release(struct inode *inode, struct file *file)
{
	struct stape_waiter_file *wf = file->private_data;

	stape_session_remove_waiter(wf->session, &wf->waiter);
	fput(wf->file);
	INIT_RCU_WORK(&wf->free, stape_waiter_free);
	queue_rcu_work(stape_work, &wf->free);
	return 0;
}

static const struct file_operations stape_waiter_fops = {
	.owner = THIS_MODULE,
	.poll = stape_waiter_poll,
	.release = stape_waiter_release,
	.llseek = noop_llseek,
};

/* The bit behind the last CPU's stands for the descriptions. */
static int stape_waiter_rings(struct stape_waiter_file *wf, const struct stape_stream *request)
{
	unsigned int n = min_t(unsigned int, request->bytes, nr_cpu_ids / 8 + 1);
	u8 *bytes;

	bytes = memdup_user(u64_to_user_ptr(request->cpus), n);
	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	stape_cpumask_read(&wf->cpus, bytes, n);
	wf->waiter.descriptions = nr_cpu_ids / 8 < n &&
				  bytes[nr_cpu_ids / 8] & BIT(nr_cpu_ids % 8);
	kfree(bytes);
	return cpumask_empty(&wf->cpus) && !wf->waiter.descriptions ? -EINVAL : 0;
}

/* Size of the first version of struct stape_stream. */
#define STAPE_WAITER_MIN_SIZE	16

/**
 * stape_waiter_create() - make a waiter file, for STAPE_IOC_STREAM
 * @session: a session with rings that does not record yet
 * @file: its file
 * @arg: user pointer to a struct stape_stream
 * @size: of the caller's struct
 *
 * Context: may sleep.
 * Return: 0; -EFAULT, -EINVAL (no such ring, @size too small), -E2BIG (unknown fields that are
 * not 0), -ENODATA (no rings), -EBUSY (started), -ENOMEM, -EMFILE, -EINTR (being killed).
 */
long stape_waiter_create(struct stape_session *session, struct file *file, void __user *arg,
			 size_t size)
{
	struct stape_waiter_file *wf;
	struct stape_stream request;
	struct file *anon;
	int fd, ret;

	if (size < STAPE_WAITER_MIN_SIZE)
		return -EINVAL;
	ret = copy_struct_from_user(&request, sizeof(request), arg, size);
	if (ret)
		return ret;
	wf = kzalloc(sizeof(*wf), GFP_KERNEL_ACCOUNT);
	if (!wf)
		return -ENOMEM;
	wf->session = session;
	stape_waiter_init(&wf->waiter, &wf->cpus, stape_waiter_wake);
	ret = stape_waiter_rings(wf, &request);
	if (ret)
		goto err_free;
	fd = get_unused_fd_flags(O_CLOEXEC);
	ret = fd;
	if (fd < 0)
		goto err_free;
	anon = anon_inode_getfile("[schedtape-stream]", &stape_waiter_fops, wf,
				  O_RDONLY | O_CLOEXEC);
	ret = PTR_ERR(anon);
	if (IS_ERR(anon))
		goto err_fd;
	wf->file = get_file(file);
	ret = stape_session_add_waiter(session, &wf->waiter);
	request.fd = fd;
	if (!ret && copy_to_user(arg, &request, min(size, sizeof(request))))
		ret = -EFAULT;
	if (ret) {
		put_unused_fd(fd);
		fput(anon);	/* frees @wf */
		return ret;
	}
	fd_install(fd, anon);
	return 0;

err_fd:
	put_unused_fd(fd);
err_free:
	kfree(wf);
	return ret;
}
