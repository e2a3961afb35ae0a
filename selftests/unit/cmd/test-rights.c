// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: why there is no module, and the command that helps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/rights.h"
#include "tap.h"

static void says(const char *release, bool installed, const char *expected)
{
	const char *text = rights_no_module(release, installed, NULL);

	if (!ok(!strcmp(text, expected), "%s, %s", release,
		installed ? "installed" : "not installed"))
		printf("# %s\n", text);
}

/* A kernel that DKMS has excluded.  The log is that of kmod/dkms-try. */
static void excluded(const char *last, const char *expected)
{
	char log[] = "/tmp/schedtape-rights-XXXXXX";
	int fd = mkstemp(log);
	const char *why;

	dprintf(fd, "412 31044\nrecord/attach.c:107:2: error: one\n%s\n", last);
	close(fd);
	why = rights_excluded(log);
	unlink(log);
	ok(!strcmp(rights_no_module("6.6.1", false, why), expected), "%s", expected);
	ok(!strcmp(rights_no_module("6.6.1", true, why),
		   "the module is not loaded: sudo modprobe schedtape"),
	   "a module that is there can be loaded");
}

int main(void)
{
	const char *load = "the module is not loaded: sudo modprobe schedtape";

	says("6.12.57+deb13-amd64", true, load);
	says("6.1.0-40-amd64", true, load);
	says("10.0-rc1", true, load);
	says("7.3-amd64", false, "the module is not installed for the kernel 7.3-amd64: "
	     "sudo apt install schedtape-dkms linux-headers-7.3-amd64");
	says("5.10.0-35-amd64", false, "the kernel 5.10.0-35-amd64 is too old for the module: "
	     "boot Linux 6.1 or a later one that README.rst lists");
	says("6.0.1", true, "the kernel 6.0.1 is too old for the module: "
	     "boot Linux 6.1 or a later one that README.rst lists");
	says("something else", true, load);
	excluded("schedtape: excluded: record/attach.c:107:2: error: one",
		 "the module does not build for the kernel 6.6.1: "
		 "record/attach.c:107:2: error: one");
	excluded("make: leaving", "the module is not installed for the kernel 6.6.1: "
		 "sudo apt install schedtape-dkms linux-headers-6.6.1");
	ok(!rights_excluded("/nowhere/log"), "no log");
	return tap_done();
}
