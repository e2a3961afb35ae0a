# SPDX-License-Identifier: GPL-2.0-only
#
# What several tests and fuzzers need, below user/, which is $(TOP)/user.
page	:= $(addprefix lib/,page.c error.c)
line	:= $(addprefix lib/,store.c timeline.c timeline-birth.c timeline-task.c timeline-life.c lives.c \
	   edges.c error.c)
tape	:= $(page) $(patsubst $(TOP)/user/%,%,$(wildcard $(TOP)/user/lib/tape-*.c))
program	:= $(line) $(addprefix lib/,program.c program-store.c program-choice.c)
options	:= $(addprefix cmd/,record-options.c replay-options.c targets.c select.c streams.c \
	   cpu-list.c choice.c \
	   cpu-map.c timing.c control.c keep.c) \
	   $(addprefix lib/,error.c cgroup.c cgroup-tree.c machine.c settings.c filter.c client.c)
