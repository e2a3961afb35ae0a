// SPDX-License-Identifier: GPL-2.0-only
/* Description: a program that asks the module for its version, if it is loaded. */
#include <stdio.h>

#include <schedtape/client.h>

int main(void)
{
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_client *client;
	struct schedtape_error err;

	if (schedtape_client_open(&client, &err)) {
		printf("no client: %s\n", err.text);
		return 0;
	}
	if (schedtape_client_info(client, &info, &err))
		printf("no info: %s\n", err.text);
	else
		printf("version %s\n", info.version);
	schedtape_client_close(client);
	return 0;
}
