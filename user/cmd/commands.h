/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands, each in the folder of its name; those that give orders to a recorder in orders/.
 * main() gives each its own name as argv[0], "schedtape report".  They return an exit status: 0,
 * CMD_FAILURE or CMD_USAGE.  diff returns 1 for "the tapes differ", and CMD_TROUBLE for failures.
 */
#ifndef SCHEDTAPE_COMMANDS_H
#define SCHEDTAPE_COMMANDS_H

int cmd_record(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_pause(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_filter(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_timehist(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_phases(int argc, char **argv);
int cmd_estimate(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_steer(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_status(int argc, char **argv);

#endif /* SCHEDTAPE_COMMANDS_H */
