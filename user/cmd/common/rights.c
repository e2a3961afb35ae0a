// SPDX-License-Identifier: GPL-2.0-only
#include "common/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <schedtape/version.h>

#include "base/first-line.h"
#include "common/output.h"

#define DEVICE		"/dev/schedtape"
#define MODULE		"/sys/module/schedtape"
#define TRIES		"/var/lib/dkms/schedtape/" SCHEDTAPE_VERSION	/* see kmod/dkms-try */
#define OLDEST_MAJOR	6	/* the oldest series of kmod/tested-series */
#define OLDEST_MINOR	1

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

/* Does modprobe(8) find the module for this kernel?  True if that is not known. */
static bool is_installed(const char *release)
{
	char path[128], line[4096];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	file = fopen(path, "re");
	if (!file)
		return true;
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, ":")] = '\0';
		found = strstr(line, "/schedtape.ko");
	}
	fclose(file);
	return found;
}

const char *rights_excluded(const char *log)
{
	static const char head[] = "schedtape: excluded: ";
	static char line[512];
	FILE *file = fopen(log, "re");
	bool found = false;

	if (!file)
		return NULL;
	while (!found && fgets(line, sizeof(line), file))
		found = !strncmp(line, head, strlen(head));
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return found ? line + strlen(head) : NULL;
}

const char *rights_no_module(const char *release, bool installed, const char *excluded)
{
	static char text[640];
	unsigned int major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) == 2 &&
	    (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR)))
		snprintf(text, sizeof(text), "the kernel %s is too old for the module: boot Linux "
			 "%d.%d or a later one that README.rst lists", release, OLDEST_MAJOR,
			 OLDEST_MINOR);
	else if (!installed && excluded)
		snprintf(text, sizeof(text), "the module does not build for the kernel %s: %s",
			 release, excluded);
	else if (!installed)
		snprintf(text, sizeof(text), "the module is not installed for the kernel %s: "
			 "sudo apt install schedtape-dkms linux-headers-%s", release, release);
	else
		return "the module is not loaded: sudo modprobe schedtape";
	return text;
}

static const char *missing_module(void)
{
	struct utsname name;
	char log[256];

	if (uname(&name))
		return rights_no_module("", true, NULL);
	snprintf(log, sizeof(log), TRIES "/try-%s.log", name.release);
	return rights_no_module(name.release, is_installed(name.release), rights_excluded(log));
}

const char *rights_obstacle(bool loaded)
{
	const char *why;

	if (!loaded)
		return missing_module();
	if (access(DEVICE, F_OK))
		return DEVICE " does not exist: give a container --device=" DEVICE;
	why = missing_capability();
	return why ? why : closed_device();
}

const char *rights_before(void)
{
	struct utsname name;
	bool loads;

	loads = !access(DEVICE, F_OK) && !uname(&name) && is_installed(name.release);
	return rights_obstacle(loads || !access(MODULE, F_OK));
}

int rights_say(int ret, const struct schedtape_error *err)
{
	const char *why = NULL;

	/* Without the module, the netlink family is what does not exist. */
	if (ret == -ENOENT && access(MODULE, F_OK))
		why = missing_module();
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

void rights_say_perf(const char *what)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	char level[16];

	if (first_line_read(path, level, sizeof(level)) && atoi(level) > 2)
		out_error(NULL, "%s: not permitted, because %s is %s: use sudo, give the recorder "
			  "CAP_SYS_ADMIN, or first: sudo sysctl kernel.perf_event_paranoid=2", what,
			  path, level);
	else
		out_error(NULL, "%s: not permitted: use sudo, or give the recorder CAP_SYS_ADMIN",
			  what);
}
