// SPDX-License-Identifier: GPL-2.0-only
#include "why/who.h"

#include <fnmatch.h>
#include <string.h>

#include "common/select.h"

struct who who_parse(const char *text)
{
	const char *colon = strrchr(text, ':');
	struct who who = { .text = text };

	who.numbered = !select_number_parse(&who.tid, colon ? colon + 1 : text);
	who.name_len = colon ? colon - text : 0;
	return who;
}

bool who_is(const struct who *who, const struct schedtape_task *task)
{
	if (!who->text || !fnmatch(who->text, task->comm, 0))
		return true;
	return who->numbered && task->pid == who->tid &&
	       (!who->name_len || (strlen(task->comm) == who->name_len &&
				   !memcmp(task->comm, who->text, who->name_len)));
}
