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
# A player is a fork of the controller: what is bound late is bound in each of them.
LDFLAGS	?= -Wl,-z,relro,-z,now
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

# In a guest, so that it needs no module support here and can do no harm; one CPU
# that counts instructions, because an emulated CPU that stalls looks like load.
DEMO	:= storm periodic chain

demo: setup
	@$(MAKE) -s all $(DEMO:%=$(BUILD)/demo/%)
ifeq ($(HOST),1)
	@$(MAKE) -s host-module
	@BUILD=$(BUILD) TAPES=$(BUILD)/demo selftests/demo
else
	@selftests/qemu/vm --kernel $(KERNEL) --icount --rw $(BUILD)/demo -- \
		"BUILD=$(BUILD) TAPES=$(BUILD)/demo selftests/demo"
endif

$(BUILD)/demo/%: selftests/workloads/%.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CFLAGS) -o $@ $< -lpthread

# For the running kernel, and into it.
host-module:
	@mkdir -p $(BUILD)/kmod/host
	@ln -sfn $(CURDIR)/include $(BUILD)/kmod/include
	@ln -sf $(CURDIR)/kmod/* $(BUILD)/kmod/host/
	$(MAKE) -s -C $(BUILD)/kmod/host modules
	test -e /sys/module/schedtape || insmod $(BUILD)/kmod/host/schedtape.ko

setup:
	@selftests/qemu/setup

check: setup
	@selftests/check

.PHONY: all module demo host-module setup check
