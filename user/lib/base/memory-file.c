// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/memory-file.h"

#include <errno.h>
#include <sys/mman.h>

/* Flags of memfd_create(2) since 6.3. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	0x08U
#define MFD_EXEC	0x10U
#endif

int memory_file_make(const char *name, bool program)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | (program ? MFD_EXEC : MFD_NOEXEC_SEAL));

	/* Older kernels do not know the flag, and let all files be executed. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd < 0 ? -errno : fd;
}
