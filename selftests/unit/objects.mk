# SPDX-License-Identifier: GPL-2.0-only
#
# What unit tests and fuzzers are linked with: all of user/ but the program's main(), and what
# the top Makefile has for that.
OBJECTS	:= $(filter-out cmd/main,$(patsubst $(TOP)/user/%.c,%,\
	   $(wildcard $(TOP)/user/*/*.c $(TOP)/user/*/*/*.c)))
ROOMS	:= $(shell sed -n 's/^ROOMS[[:space:]]*:= //p' $(TOP)/Makefile)
PKGS	:= $(shell sed -n 's/^PKGS[[:space:]]*:= //p' $(TOP)/Makefile)
