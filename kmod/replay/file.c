// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of a replay, which its players share: they join and step with ioctl(), and map
 * their clocks.
 */
#include "replay/replay.h"

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "replay/internal.h"

static int stape_replay_file_release(struct inode *inode, struct file *file)
{
	struct stape_replay *replay = file->private_data;

	stape_replay_remove_players(replay);
	stape_replay_put(replay);
	return 0;
}

static long stape_replay_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct stape_replay *replay = file->private_data;
	struct stape_join join;
	struct stape_step step;
	u32 number;

	switch (cmd) {
	case STAPE_IOC_JOIN:
		if (get_user(number, (u32 __user *)arg))
			return -EFAULT;
		return stape_step_join(replay, number, 0);
	case STAPE_IOC_JOIN_TURN:
		if (copy_from_user(&join, (void __user *)arg, sizeof(join)))
			return -EFAULT;
		return stape_step_join(replay, join.player, join.turn);
	case STAPE_IOC_STEP:
		if (copy_from_user(&step, (void __user *)arg, sizeof(step)))
			return -EFAULT;
		return stape_step(file, &step);
	case STAPE_IOC_HOLD:
		if (get_user(number, (u32 __user *)arg))
			return -EFAULT;
		return stape_step_hold(replay, number);
	}
	return -ENOTTY;
}

static vm_fault_t stape_replay_file_fault(struct vm_fault *vmf)
{
	struct stape_replay *replay = vmf->vma->vm_private_data;
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT;

	if (offset >= stape_replay_clocks_size(replay->nr_players))
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page((void *)replay->clocks + offset);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct stape_replay_file_vm_ops = {
	.fault = stape_replay_file_fault,
};

/* The mapping references the file, and the file the replay.  Forks inherit the mapping. */
static int stape_replay_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_private_data = file->private_data;
	vma->vm_ops = &stape_replay_file_vm_ops;
	return 0;
}

static const struct file_operations stape_replay_file_fops = {
	.owner = THIS_MODULE,
	.release = stape_replay_file_release,
	.mmap = stape_replay_file_mmap,
	.unlocked_ioctl = stape_replay_file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* Reads the edges.  @from: the wakers; NULL: the controller has not given them. */
static int stape_replay_load_edges(struct stape_replay *replay, const u32 __user *to,
				   const u32 __user *from)
{
	struct stape_edge *edge;
	u32 i;

	for (i = 0; i < replay->nr_edges; i++) {
		edge = &replay->edges[i];
		edge->from = STAPE_NO_PLAYER;
		if (get_user(edge->to, to + i) || (from && get_user(edge->from, from + i)))
			return -EFAULT;
		if (edge->to >= replay->nr_players || (from && edge->from >= replay->nr_players))
			return -EINVAL;
		cond_resched();
	}
	return 0;
}

/* Size of the first version of struct stape_replay_setup. */
#define STAPE_REPLAY_SETUP_MIN_SIZE	32

/**
 * stape_replay_create() - make a replay and the file for its players
 * @arg: the caller's setup; its @fd and @id are filled in
 * @size: of the caller's setup
 * @account: as for stape_replay_alloc()
 * @powers: as for stape_replay_alloc()
 * @notify: as for stape_replay_alloc()
 *
 * Context: may sleep.
 * Return: the replay, with a reference for the session, or an ERR_PTR().
 */
struct stape_replay *stape_replay_create(struct stape_replay_setup __user *arg, size_t size,
					 struct stape_account *account, u32 powers,
					 void (*notify)(struct stape_replay *replay))
{
	struct stape_replay_setup setup;
	struct stape_replay *replay;
	struct file *file;
	int ret, fd;

	if (size < STAPE_REPLAY_SETUP_MIN_SIZE)
		return ERR_PTR(-EINVAL);
	ret = copy_struct_from_user(&setup, sizeof(setup), arg, size);
	if (ret)
		return ERR_PTR(ret);
	replay = stape_replay_alloc(&setup, account, powers, notify);
	if (IS_ERR(replay))
		return replay;
	ret = stape_replay_load_edges(replay, u64_to_user_ptr(setup.edges),
				      u64_to_user_ptr(setup.wakers));
	if (ret)
		goto err_put;
	fd = get_unused_fd_flags(O_CLOEXEC);
	ret = fd;
	if (fd < 0)
		goto err_put;
	file = anon_inode_getfile("[schedtape-replay]", &stape_replay_file_fops, replay,
				  O_RDWR | O_CLOEXEC);
	ret = PTR_ERR_OR_ZERO(file);
	if (ret)
		goto err_fd;
	kref_get(&replay->entry.ref);		/* the file's */
	setup.fd = fd;
	setup.id = replay->entry.id;
	if (copy_to_user(arg, &setup, min(size, sizeof(setup)))) {
		ret = -EFAULT;
		goto err_file;
	}
	fd_install(fd, file);
	return replay;

err_file:
	fput(file);
err_fd:
	put_unused_fd(fd);
err_put:
	stape_replay_put(replay);
	return ERR_PTR(ret);
}
