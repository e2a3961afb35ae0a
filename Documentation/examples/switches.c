// SPDX-License-Identifier: GPL-2.0-only
/* switches - how often all CPUs together switch tasks in a second; links both libraries */
#include <stdio.h>
#include <unistd.h>
#include <schedtape/client.h>

int main(void)
{
	static struct schedtape_session_options options;
	static struct schedtape_filter filter;
	struct schedtape_error err = { "interrupted" };
	struct schedtape_client *client;
	struct schedtape_session *ses;
	unsigned long switches = 0;
	struct schedtape_page page;
	struct schedtape_event ev;
	const void *memory;
	uint32_t cpu;

	options.size = sizeof(options);
	options.ring_bytes = 4 << 20;
	filter.size = sizeof(filter);
	filter.all = true;
	if (schedtape_client_open(&client, &err) || schedtape_session_open(client, &ses, &err) ||
	    schedtape_session_set(ses, &options, &err) ||
	    schedtape_filter_set(client, schedtape_session_id(ses), &filter, &err) ||
	    schedtape_session_start(ses, &err) || sleep(1) || schedtape_session_stop(ses, &err)) {
		fprintf(stderr, "switches: %s\n", err.text);
		return 1;
	}
	for (cpu = 0; cpu < schedtape_session_cpus(ses); cpu++)
		while (schedtape_session_pages(ses, cpu, 1, &memory) &&
		       !schedtape_page_open(&page, memory, &err)) {
			while (schedtape_page_next(&page, &ev, &err) > 0)
				switches += ev.type == STAPE_EV_SWITCH;
			schedtape_session_consume(ses, cpu, 1);
		}
	printf("%lu switches\n", switches);
	return 0;	/* that closes the session, too */
}
