// SPDX-License-Identifier: GPL-2.0-only
/*
 * fields - the numbers in the events of other tracepoints, which record -e takes
 *	cc fields.c -o fields $(pkg-config --cflags --libs libschedtape) && ./fields schedtape.tape
 */
#include <stdio.h>
#include <schedtape.h>

static void print_sample(struct schedtape_decoder *decoder, const struct schedtape_sample *sample)
{
	const struct schedtape_tracepoint *point = schedtape_decoder_find(decoder, sample);
	const struct schedtape_value *values;
	int i, n = schedtape_decoder_values(decoder, sample, &values);

	for (i = 0; i < n; i++)
		if (point->fields[i].kind == SCHEDTAPE_FIELD_NUMBER)
			printf(point->fields[i].is_signed ? "%s %s=%ld\n" : "%s %s=%lu\n",
			       point->name, point->fields[i].name, (long)values[i].number);
}

int main(int argc, char **argv)
{
	struct schedtape_error err = { "" };
	struct schedtape_decoder *decoder;
	struct schedtape_samples *samples;
	struct schedtape_sample sample;
	struct schedtape_tape *tape;

	if (argc != 2 || schedtape_tape_open(argv[1], &tape, &err) ||
	    schedtape_samples_open(tape, &samples, &err) ||
	    schedtape_decoder_new(schedtape_tape_formats(tape), &decoder, &err)) {
		fprintf(stderr, "fields: %s\n", argc == 2 ? err.text : "Usage: fields TAPE");
		return 1;
	}
	while (schedtape_samples_next(samples, &sample, &err) > 0)
		print_sample(decoder, &sample);
	schedtape_decoder_free(decoder);
	schedtape_samples_close(samples);
	schedtape_tape_close(tape);
}
