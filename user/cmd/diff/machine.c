// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: schedulers and their settings.  If they differ, the comparison of a
 * replay with its original also measures their effect.
 */
#include <string.h>

#include "common/output.h"
#include "common/schedulers.h"
#include "diff/internal.h"

/* -- schedulers ------------------------------------------------------------ */

static void print_schedulers(const struct diff *diff)
{
	char a[SCHEDULERS_TEXT_LEN], b[SCHEDULERS_TEXT_LEN];
	const char *in_a = schedulers_text(a, diff->a.tape);
	const char *in_b = schedulers_text(b, diff->b.tape);

	if (!schedulers_differ(diff->a.tape, diff->b.tape))
		return;
	if (strcmp(in_a, in_b))
		printf("# schedulers differ: A: %s, B: %s\n", in_a, in_b);
	else
		printf("# schedulers differ among the others: A and B: %s\n", in_a);
}

static void list_schedulers(const struct diff *diff)
{
	char a[SCHEDULERS_TEXT_LEN], b[SCHEDULERS_TEXT_LEN];
	const char *in_a = schedulers_text(a, diff->a.tape);
	const char *in_b = schedulers_text(b, diff->b.tape);
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "a", json_object_new_string(in_a));
	json_object_object_add(object, "b", json_object_new_string(in_b));
	out_json_add_bool(object, "differ",
			  schedulers_differ(diff->a.tape, diff->b.tape));
	out_json_member("scheduler", object);
}

/* -- both ------------------------------------------------------------------ */

void diff_machine_print(const struct diff *diff)
{
	print_schedulers(diff);
	diff_settings_print(diff);
}

void diff_machine_json(const struct diff *diff)
{
	list_schedulers(diff);
	diff_settings_json(diff);
}
