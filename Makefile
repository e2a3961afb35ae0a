# SPDX-License-Identifier: GPL-2.0-only
#
#   make            the controller, into build/
#   make demo       record, report, replay and compare a workload; HOST=1: here
#   make check      every test, on every supported kernel
#   make module     the module for KERNEL (6.1, 6.12, …), or for KDIR
#   make install    the controller, its manual pages, and the module through DKMS
#   make style      checkpatch, sparse, clang-tidy, shellcheck, mandoc

BUILD	?= $(CURDIR)/build
KERNEL	?= 6.1
PREFIX	?= /usr/local
export SCHEDTAPE_BUILD := $(BUILD)

VERSION	:= $(shell sed -n 's/^\#define SCHEDTAPE_VERSION.*"\(.*\)"/\1/p' include/schedtape/version.h)
CC	?= gcc
CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
PKGS	:= libnl-3.0 libnl-genl-3.0 libzstd libxxhash json-c
FLAGS	= -std=gnu11 $(WARN) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -Iuser/lib \
	  $(shell pkg-config --cflags $(PKGS))
LIBS	= $(shell pkg-config --libs $(PKGS)) -lpthread -lm

LIB_OBJ	:= $(patsubst %.c,$(BUILD)/%.o,$(wildcard user/lib/*.c))
CMD_OBJ	:= $(patsubst %.c,$(BUILD)/%.o,$(wildcard user/cmd/*.c))

all: $(BUILD)/schedtape

$(BUILD)/schedtape: $(CMD_OBJ) $(BUILD)/libschedtape.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libschedtape.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d)

# A kernel's module is built in a folder of its own, from links to the sources.
KMOD	= $(BUILD)/kmod/$(KERNEL)

module:
	@selftests/qemu/fetch kernel $(KERNEL) >/dev/null
	@mkdir -p $(KMOD)
	@ln -sfn $(CURDIR)/include $(BUILD)/kmod/include
	@ln -sf $(CURDIR)/kmod/* $(KMOD)/
	@$(MAKE) -s -C $(KMOD) KDIR=$(BUILD)/kernels/$(KERNEL)/kdir $(KFLAGS) modules

.PHONY: all module
