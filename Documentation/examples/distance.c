// SPDX-License-Identifier: GPL-2.0-only
/*
 * distance - how far a replay, or any other tape, is from the original
 *
 *	cc distance.c -o distance $(pkg-config --cflags --libs libschedtape)
 */
#include <stdio.h>
#include <schedtape.h>

int main(int argc, char **argv)
{
	struct schedtape_error err = { "usage: distance TAPE TAPE" };
	const struct schedtape_distance *far;
	struct schedtape_comparison *comparison;
	struct schedtape_timeline *timelines[2];
	struct schedtape_profile *profiles[2];
	double ks[SCHEDTAPE_NR_LENGTHS];
	const struct schedtape_pair *pairs;
	struct schedtape_tape *tape;
	size_t i, n;

	for (i = 0; i < 2; i++)
		if (argc != 3 || schedtape_tape_open(argv[1 + i], &tape, &err) ||
		    schedtape_profile_run(tape, &timelines[i], &profiles[i], &err))
			goto failed;
	if (schedtape_compare(timelines[0], timelines[1], &comparison, &err))
		goto failed;
	pairs = schedtape_comparison_pairs(comparison, &n);
	if (schedtape_profile_total(profiles[0], profiles[1], pairs, n, ks, &err))
		goto failed;
	far = schedtape_comparison_distance(comparison);
	printf("%zu of %zu tasks\n", far->matched, far->matched + far->only_a);
	printf("%.0f of %.0f wake-ups\n", (double)far->woken_same, (double)far->woken_a);
	printf("bursts differ by %.3f, sleeps by %.3f, delays by %.3f\n", ks[SCHEDTAPE_BURSTS],
	       ks[SCHEDTAPE_SLEEPS], ks[SCHEDTAPE_DELAYS]);
	return 0;	/* the objects go with the process */
failed:
	fprintf(stderr, "distance: %s\n", err.text);
	return 1;
}
