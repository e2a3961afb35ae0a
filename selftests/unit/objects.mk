# SPDX-License-Identifier: GPL-2.0-only
#
# Objects for unit tests and fuzzers: all of user/ except main() and what is not for programs in C,
# and the settings of the top Makefile for them.
OBJECTS	:= $(filter-out cmd/main bindings/%,$(patsubst $(TOP)/user/%.c,%,\
	   $(wildcard $(TOP)/user/*/*.c $(TOP)/user/*/*/*.c)))
ROOMS	:= $(shell sed -n 's/^ROOMS[[:space:]]*:= //p' $(TOP)/Makefile)
PKGS	:= $(shell sed -n 's/^PKGS[[:space:]]*:= //p' $(TOP)/Makefile)
