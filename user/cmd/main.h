/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands.  main() gives each its own name as argv[0], "schedtape report".  They return
 * an exit status: 0, CMD_FAILURE, CMD_USAGE; diff, which returns 1 for "the tapes differ",
 * has CMD_TROUBLE for failures.
 */
#ifndef SCHEDTAPE_MAIN_H
#define SCHEDTAPE_MAIN_H

int cmd_record(int argc, char **argv);
int cmd_filter(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_steer(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_status(int argc, char **argv);

#endif /* SCHEDTAPE_MAIN_H */
