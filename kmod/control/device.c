// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/schedtape: open() makes a session; mmap(), poll() and read() get its data.
 */
#include "control/control.h"

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "base/account.h"
#include "control/internal.h"
#include "record/dump.h"
#include "record/sessions.h"
#include "replay/replay.h"

static_assert(sizeof(struct stape_session_info) == 32);
static_assert(sizeof(struct stape_replay_setup) == 48);
static_assert(sizeof(struct stape_join) == 8);
static_assert(sizeof(struct stape_ring_producer) == 48);
static_assert(offsetof(struct stape_session_info, ring_stride) == 24);

/**
 * struct stape_device_file - private data of an open /dev/schedtape
 * @session: made by open()
 * @has_replay: STAPE_IOC_REPLAY has been called
 * @replay: made by STAPE_IOC_REPLAY, or NULL; read without a lock
 */
struct stape_device_file {
	struct stape_session *session;
	atomic_t has_replay;
	struct stape_replay *replay;
};

static int stape_device_open(struct inode *inode, struct file *file)
{
	struct stape_device_file *df;
	int ret;

	if (!perfmon_capable())
		return -EACCES;
	ret = security_locked_down(LOCKDOWN_PERF);
	if (ret)
		return ret;
	df = kzalloc(sizeof(*df), GFP_KERNEL_ACCOUNT);
	if (!df)
		return -ENOMEM;
	df->session = stape_session_create(&stape_netlink_session_ops);
	if (IS_ERR(df->session)) {
		ret = PTR_ERR(df->session);
		kfree(df);
		return ret;
	}
	file->private_data = df;
	return stream_open(inode, file);
}

static int stape_device_release(struct inode *inode, struct file *file)
{
	struct stape_device_file *df = file->private_data;

	if (df->replay)
		stape_replay_abandon(df->replay);
	stape_session_destroy(df->session);
	kfree(df);
	return 0;
}

/* Copies one page of a ring to the reader.  Returns its size, or 0 if there is no page. */
static ssize_t stape_device_read_ring(struct stape_ring *ring, char __user *buf)
{
	const void *page = stape_ring_peek(ring);

	if (!page)
		return 0;
	if (copy_to_user(buf, page, STAPE_PAGE_SIZE))
		return -EFAULT;
	stape_ring_consume(ring);
	return STAPE_PAGE_SIZE;
}

/* The same for any ring that may be read: in overwrite mode the CPUs' only after the stop. */
static ssize_t stape_device_read_page(struct stape_session *session, bool finished,
				      char __user *buf)
{
	ssize_t ret = stape_device_read_ring(&session->active.descriptions->ring, buf);
	int cpu;

	if (ret || (session->setup.overwrite && !finished))
		return ret;
	for_each_cpu(cpu, &session->setup.cpus) {
		ret = stape_device_read_ring(per_cpu_ptr(session->active.rings, cpu), buf);
		if (ret)
			return ret;
	}
	return 0;
}

static ssize_t stape_device_read_some(struct stape_session *session, bool finished,
				      char __user *buf, size_t count)
{
	ssize_t done = 0, ret;

	while (count - done >= STAPE_PAGE_SIZE) {
		ret = stape_device_read_page(session, finished, buf + done);
		if (ret <= 0)
			return done ?: ret;
		done += ret;
		cond_resched();
	}
	return done;
}

static ssize_t stape_device_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct stape_device_file *df = file->private_data;
	struct stape_session *session = df->session;
	bool finished;
	ssize_t ret;

	if (count < STAPE_PAGE_SIZE)
		return -EINVAL;
	if (!smp_load_acquire(&session->active.rings))		/* pairs with stape_session_set() */
		return -ENODATA;
	if (file->f_flags & O_NONBLOCK) {
		if (!mutex_trylock(&session->read_lock))
			return -EAGAIN;
	} else if (mutex_lock_interruptible(&session->read_lock)) {
		return -ERESTARTSYS;
	}
	for (;;) {
		/* Read the state before the pages: after the stop no page is published. */
		finished = stape_session_finished(session);
		ret = stape_device_read_some(session, finished, buf, count);
		if (ret || finished)
			break;
		ret = -EAGAIN;
		if (file->f_flags & O_NONBLOCK)
			break;
		ret = wait_event_interruptible(session->active.waiter.wait,
					       stape_session_finished(session) ||
					       stape_session_readable(session,
								      &session->active.waiter,
								      1));
		if (ret)
			break;
	}
	mutex_unlock(&session->read_lock);
	return ret;
}

static __poll_t stape_device_poll(struct file *file, struct poll_table_struct *wait)
{
	struct stape_device_file *df = file->private_data;
	struct stape_session *session = df->session;

	return stape_session_poll(session, &session->active.waiter, file, wait);
}

/*
 * Returns the ring number @n of mmap(): that of a CPU, or behind these that of the descriptions.
 * NULL: there is no such ring, or it has no memory.
 */
static struct stape_ring *stape_device_ring(struct stape_session *session, u64 n)
{
	unsigned int cpu = n;

	if (n == nr_cpu_ids)
		return &session->active.descriptions->ring;
	if (n > nr_cpu_ids)
		return NULL;
	/* The caller chooses the number: no address beyond the CPUs', not even by speculation. */
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpumask_test_cpu(cpu, &session->setup.cpus))
		return NULL;
	return per_cpu_ptr(session->active.rings, cpu);
}

static vm_fault_t stape_device_fault(struct vm_fault *vmf)
{
	struct stape_session *session = vmf->vma->vm_private_data;
	size_t size = stape_ring_size(session->setup.pages);
	struct stape_ring *ring;
	u64 n, in_ring;

	n = div64_u64_rem((u64)vmf->pgoff << PAGE_SHIFT, size, &in_ring);
	ring = stape_device_ring(session, n);
	if (!ring || in_ring >= stape_ring_size(ring->mask + 1))
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(ring->mem + in_ring);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct stape_device_vm_ops = {
	.fault = stape_device_fault,
};

/* The mapping references the file, which keeps the session and its rings. */
static int stape_device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct stape_device_file *df = file->private_data;
	struct stape_session *session = df->session;
	u64 length = vma->vm_end - vma->vm_start;
	struct stape_ring *ring;
	u64 size, n, in_ring;

	if (!smp_load_acquire(&session->active.rings))		/* pairs with stape_session_set() */
		return -ENODATA;
	size = stape_ring_size(session->setup.pages);
	n = div64_u64_rem((u64)vma->vm_pgoff << PAGE_SHIFT, size, &in_ring);
	ring = stape_device_ring(session, n);
	if (!ring)
		return n < nr_cpu_ids && cpu_possible(n) ? -ENXIO : -EINVAL;
	if (in_ring + length > stape_ring_size(ring->mask + 1))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (vma->vm_flags & VM_WRITE) {
		/* Only the consumer's page may be written, and only in a shared mapping. */
		if (in_ring || length != PAGE_SIZE || !(vma->vm_flags & VM_SHARED))
			return -EPERM;
		vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	} else {
		vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
			     VM_MAYWRITE | VM_MAYEXEC);
	}
	vma->vm_private_data = session;
	vma->vm_ops = &stape_device_vm_ops;
	return 0;
}

static long stape_device_info(struct stape_session *session, void __user *arg)
{
	struct stape_session_info info = {
		.id = session->entry.id,
		.wire_version = STAPE_WIRE_VERSION,
		.page_size = STAPE_PAGE_SIZE,
		.nr_cpus = nr_cpu_ids,
	};

	if (mutex_lock_killable(&session->lock))
		return -EINTR;
	if (session->active.rings) {
		info.ring_pages = session->setup.pages;
		info.ring_stride = stape_ring_size(session->setup.pages);
		info.description_pages = stape_descriptions_pages(&session->setup);
	}
	mutex_unlock(&session->lock);
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

/*
 * Publishes what was recorded before the call.  A call within a tick of the last one waits for the
 * next tick, because it has to publish as well.
 */
static long stape_device_flush(struct stape_session *session)
{
	bool flushed = false;

	while (!flushed) {
		if (fatal_signal_pending(current) || mutex_lock_killable(&session->lock))
			return -EINTR;
		flushed = stape_session_flush(session);
		mutex_unlock(&session->lock);
		if (!flushed)
			schedule_timeout_killable(1);
	}
	return 0;
}

static long stape_device_clock(struct stape_session *session, void __user *arg)
{
	struct stape_clock_sample sample;

	if (!smp_load_acquire(&session->active.rings))		/* pairs with stape_session_set() */
		return -ENODATA;
	stape_clock_sample(session->setup.counter, &sample);
	stape_dump_sample(session->dump, &sample);
	return copy_to_user(arg, &sample, sizeof(sample)) ? -EFAULT : 0;
}

/* Without the session's lock, because a page fault in the caller's memory may take long. */
static long stape_device_replay(struct stape_device_file *df, void __user *arg, size_t size)
{
	struct stape_replay *replay;

	if (atomic_xchg(&df->has_replay, 1))
		return -EBUSY;
	replay = stape_replay_create(arg, size, df->session->account,
				     capable(CAP_SYS_RESOURCE) ? STAPE_ACCOUNT_EXEMPT : 0,
				     stape_netlink_replay_ntf);
	if (IS_ERR(replay)) {
		atomic_set(&df->has_replay, 0);
		return PTR_ERR(replay);
	}
	/* Pairs with the acquire in stape_device_rewind(): the replay is complete. */
	smp_store_release(&df->replay, replay);
	return 0;
}

static long stape_device_rewind(struct stape_device_file *df)
{
	/* Pairs with the release in stape_device_replay(). */
	struct stape_replay *replay = smp_load_acquire(&df->replay);

	return replay ? stape_rewind(replay) : -ENODATA;
}

/* An ioctl's number without the size of its struct, which may grow at its end. */
#define STAPE_DEVICE_ANY_SIZE(cmd)	((cmd) & ~IOCSIZE_MASK)

static long stape_device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct stape_device_file *df = file->private_data;
	struct stape_session *session = df->session;

	switch (cmd) {
	case STAPE_IOC_INFO:
		return stape_device_info(session, (void __user *)arg);
	case STAPE_IOC_FLUSH:
		return stape_device_flush(session);
	case STAPE_IOC_CLOCK:
		return stape_device_clock(session, (void __user *)arg);
	case STAPE_IOC_REWIND:
		return stape_device_rewind(df);
	}
	switch (STAPE_DEVICE_ANY_SIZE(cmd)) {
	case STAPE_DEVICE_ANY_SIZE(STAPE_IOC_STREAM):
		return stape_waiter_create(session, file, (void __user *)arg, _IOC_SIZE(cmd));
	case STAPE_DEVICE_ANY_SIZE(STAPE_IOC_REPLAY):
		return stape_device_replay(df, (void __user *)arg, _IOC_SIZE(cmd));
	}
	return -ENOTTY;
}

static const struct file_operations stape_device_fops = {
	.owner = THIS_MODULE,
	.open = stape_device_open,
	.release = stape_device_release,
	.read = stape_device_read,
	.poll = stape_device_poll,
	.mmap = stape_device_mmap,
	.unlocked_ioctl = stape_device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/*
 * The number is fixed, so that a device file can exist before the module is loaded, and opening
 * it loads the module.  No driver of the kernel uses this number.  If another module has taken
 * it, the kernel chooses one.
 */
#define STAPE_DEVICE_MINOR	246

static struct miscdevice stape_device = {
	.minor = STAPE_DEVICE_MINOR,
	.name = "schedtape",
	.fops = &stape_device_fops,
	.mode = 0600,
};

/**
 * stape_device_init() - make /dev/schedtape
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int stape_device_init(void)
{
	int ret = misc_register(&stape_device);

	if (ret == -EBUSY) {
		stape_device.minor = MISC_DYNAMIC_MINOR;
		ret = misc_register(&stape_device);
	}
	return ret;
}

/**
 * stape_device_exit() - remove /dev/schedtape
 *
 * Context: may sleep.
 */
void stape_device_exit(void)
{
	misc_deregister(&stape_device);
}

/*
 * Opening the device loads the module, and the device's mode says who may do that.  There is no
 * alias for the netlink family, because with one any user could have the module loaded.
 */
MODULE_ALIAS_MISCDEV(STAPE_DEVICE_MINOR);
MODULE_ALIAS("devname:schedtape");
