// SPDX-License-Identifier: GPL-2.0-only
#include "common/copying.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "common/destination.h"
#include "common/output.h"
#include "common/signals.h"

int copying_begin(struct copying *copying, const char *output, bool quiet,
		  struct schedtape_error *err)
{
	*copying = (struct copying){
		.off = quiet || !isatty(STDERR_FILENO), .percent = 101, .signals = -1,
	};
	if (destination_is_stream(output))
		return 0;
	copying->signals = signals_open();
	return copying->signals < 0 ?
	       schedtape_fail(err, copying->signals, "cannot take signals: %s",
			      strerror(-copying->signals)) : 0;
}

int copying_show(void *arg, uint64_t done, uint64_t bytes)
{
	struct copying *copying = arg;
	unsigned int percent = bytes ? done * 100.0 / bytes : 100;

	if (!copying->off && percent != copying->percent) {
		copying->percent = percent;
		fprintf(stderr, "\r[ %s: %u %% ]\033[K", out_command(), percent);
	}
	return copying->signals >= 0 && signals_pending() ? -EINTR : 0;
}

void copying_end(struct copying *copying)
{
	if (!copying->off)
		fprintf(stderr, "\r\033[K");
	if (copying->signals >= 0)
		close(copying->signals);
}
