// SPDX-License-Identifier: GPL-2.0-only
#include "common/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/output.h"

#define DEVICE	"/dev/schedtape"

static bool has_capability(unsigned int number)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return !syscall(SYS_capget, &header, data) &&
	       data[number / 32].effective & (1U << number % 32);
}

/* Every request to the module needs this, and so does opening its device. */
static const char *missing_capability(void)
{
	if (has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN))
		return NULL;
	return "CAP_PERFMON is missing: use sudo, or once: "
	       "sudo setcap cap_perfmon=ep \"$(command -v schedtape)\"";
}

static const char *closed_device(void)
{
	if (!faccessat(AT_FDCWD, DEVICE, R_OK | W_OK, AT_EACCESS))
		return NULL;
	return DEVICE " may not be opened: sudo usermod -aG schedtape \"$USER\", and log in again";
}

const char *rights_obstacle(bool loaded)
{
	const char *why;

	if (!loaded)
		return "the module is not loaded: sudo modprobe schedtape";
	if (access(DEVICE, F_OK))
		return DEVICE " does not exist: give a container --device=" DEVICE;
	why = missing_capability();
	return why ? why : closed_device();
}

int rights_say(int ret, const struct schedtape_error *err)
{
	const char *why = NULL;

	if (ret == -EPERM || ret == -EACCES)
		why = missing_capability();
	/* Only the device has a mode. */
	if (ret == -EACCES && !why)
		why = closed_device();
	if (!why)
		return out_failed(ret, err);
	out_error(NULL, "%s", why);
	return ret;
}
