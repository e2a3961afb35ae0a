# SPDX-License-Identifier: GPL-2.0-only
#
#   make            the controller, into build/
#   make demo       record, report, replay and compare a workload; HOST=1: here
#   make check      every test, on every supported kernel
#   make bench      what schedtape and its peers cost; ONLY=core: a part of it
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

# ONLY: some of the parts that selftests/bench/run names.
bench: setup
	@KERNEL=$(KERNEL) selftests/bench/run $(ONLY)

.PHONY: all module demo host-module setup check bench

# Into DESTDIR, for a package; or else into this machine, the module by DKMS.
INSTALL	?= install
MANDIR	?= $(PREFIX)/share/man
UDEVDIR	?= /usr/lib/udev/rules.d
SRCDIR	:= /usr/src/schedtape-$(VERSION)
KVER	?= $(shell uname -r)
PAGES	:= $(wildcard Documentation/man/*.[1-8])
MODULE_SRC := dkms.conf COPYING $(wildcard LICENSES/*) $(wildcard include/schedtape/*.h) \
	  kmod/Kbuild kmod/Makefile $(wildcard kmod/*.[ch] kmod/features/*.c)
DKMS	:= $(shell PATH=$$PATH:/usr/sbin:/sbin command -v dkms)

install: install-user $(if $(DESTDIR),dkms-source,dkms-install)

install-user: all
	$(INSTALL) -m 755 -D -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/schedtape
	for p in $(PAGES); do \
		$(INSTALL) -m 644 -D -t $(DESTDIR)$(MANDIR)/man$${p##*.} $$p || exit; \
	done
	$(INSTALL) -m 644 -D -t $(DESTDIR)$(UDEVDIR) kmod/60-schedtape.rules

dkms-source:
	rm -rf $(DESTDIR)$(SRCDIR)
	for f in $(MODULE_SRC); do \
		$(INSTALL) -m 644 -D $$f $(DESTDIR)$(SRCDIR)/$$f || exit; \
	done

dkms-install: dkms-source
ifeq ($(DKMS),)
	@echo "There is no dkms, so no module was built. Its sources: $(SRCDIR)"
else
	-$(DKMS) remove -m schedtape -v $(VERSION) --all > /dev/null 2>&1
	$(DKMS) add -m schedtape -v $(VERSION)
	$(DKMS) build -m schedtape -v $(VERSION) -k $(KVER)
	$(DKMS) install -m schedtape -v $(VERSION) -k $(KVER)
endif

uninstall:
ifeq ($(DESTDIR),)
	$(if $(DKMS),-$(DKMS) remove -m schedtape -v $(VERSION) --all)
endif
	rm -rf $(DESTDIR)$(SRCDIR)
	rm -f $(DESTDIR)$(PREFIX)/bin/schedtape $(DESTDIR)$(UDEVDIR)/60-schedtape.rules
	for p in $(PAGES); do \
		rm -f $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/} || exit; \
	done

style: setup
	@selftests/style

# What a variable is here, for scripts.
print-%:
	@echo '$($*)'

.PHONY: install install-user dkms-source dkms-install uninstall style
