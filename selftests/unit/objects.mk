# SPDX-License-Identifier: GPL-2.0-only
#
# What unit tests and fuzzers are linked with: all of user/ but the program's main().
ROOMS	:= user/lib/include user/lib user user/cmd
OBJECTS	:= $(filter-out cmd/main,$(patsubst $(TOP)/user/%.c,%,\
	   $(wildcard $(TOP)/user/*/*.c $(TOP)/user/*/*/*.c)))
