// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are there functions that set the flags of a mapping?
 */
#include <linux/mm.h>

void feature(struct vm_area_struct *vma);

void feature(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTCOPY);
	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYEXEC);
}
