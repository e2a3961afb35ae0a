// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the log file of a daemon: its lines have the time, it is opened again after it was
 * renamed; and the levels of messages for the journal.
 */
#include <regex.h>

#include "common/output.h"
#include "fake-folder.h"
#include "record/process.h"
#include "tap.h"

static char path[64], renamed[64];

/* Returns true if the file's whole text matches. */
static bool matches(const char *name, const char *pattern)
{
	char text[1024] = "";
	FILE *file = fopen(name, "re");
	regex_t regex;
	bool is;

	if (!file || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	is = !regexec(&regex, text, 0, NULL, 0);
	if (!is)
		printf("# %s\n", text);
	regfree(&regex);
	return is;
}

#define TIME "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z "

TEST(file)
{
	struct log log = LOG_CLOSED;

	folder_put("log", "before\n");
	ok(!log_open(&log, path), "a file");
	log_take_over(&log);
	out_warning("t", "one");
	fprintf(stderr, "[ %s ]\n", "two");
	ok(matches(path, "^before\n" TIME "schedtape: warning: t: one\n" TIME "\\[ two \\]\n$"),
	   "each line has the time, and none is lost");
	ok(!rename(path, renamed), "it is renamed");
	out_error(NULL, "three");
	ok(matches(renamed, TIME "schedtape: three\n$"), "and written on");
	log_reopen(&log);
	out_error(NULL, "four");
	ok(matches(path, "^" TIME "schedtape: four\n$"), "until it is opened again");
	unlink(path);
	ok(!mkdir(path, 0700), "a folder is in its place");
	log_reopen(&log);
	rmdir(path);
	out_error(NULL, "five");
	log_reopen(&log);
	out_error(NULL, "six");
	ok(matches(path, "^" TIME "schedtape: six\n$"), "an attempt that failed is repeated");
}

TEST(levels)
{
	char stream[64], levels[64];
	struct stat st;
	int fd;

	snprintf(levels, sizeof(levels), "%s/levels", folder);
	fd = open(levels, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	dup2(fd, STDERR_FILENO);
	fstat(STDERR_FILENO, &st);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino + 1);
	setenv("JOURNAL_STREAM", stream, 1);
	log_use_journal();
	unlink(path);
	folder_put("log", "");
	out_error(NULL, "zero");
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_use_journal();
	out_error(NULL, "one");
	out_warning(NULL, "two");
	ok(matches(levels, "Z schedtape: zero\n.*Z <3>schedtape: one\n"
			   ".*Z <4>schedtape: warning: two\n$"),
	   "messages have levels only if standard error is the journal");
	close(fd);
}

TEST(wrong)
{
	struct log log = LOG_CLOSED;

	ok(log_open(&log, "/none/log") == -ENOENT && log.fd < 0, "no folder");
	log_close(&log);
}

int main(void)
{
	folder_make();
	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(renamed, sizeof(renamed), "%s/log.1", folder);
	tap_run();
	folder_remove();
	return tap_done();
}
