// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: why there is no module, and the command that helps.
 */
#include <string.h>

#include "common/rights.h"
#include "tap.h"

static void says(const char *release, bool installed, const char *expected)
{
	const char *text = rights_no_module(release, installed);

	if (!ok(!strcmp(text, expected), "%s, %s", release,
		installed ? "installed" : "not installed"))
		printf("# %s\n", text);
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
	return tap_done();
}
