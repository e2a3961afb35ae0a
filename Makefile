# SPDX-License-Identifier: GPL-2.0-only
#
#   make            the controller, into build/
#   make demo       record, report, replay and compare a workload; HOST=1: here
#   make unit       unit tests, plainly and with sanitizers; TESTS="page tape": some
#   make quick      build, and many of the module's tests in a kernel that runs as a program, in two
#                   minutes; TESTS="test_loss": some; KASAN=1: a kernel that watches its memory
#   make check      what every change has to pass; TESTS="test_loss test_record.sh" KERNELS="6.12":
#                   some tests on some kernels
#   make check-all  every test, on every supported kernel, in parts; make check PART=fuzz: one
#   make check-debug  the module's tests on kernels that look for mistakes, for hours
#   make reliability  what check tries a few times, for many hours; ONLY=kill=50
#   make fuzz       parsers, and the module in a guest, for hours
#   make bench      what schedtape and its peers cost; ONLY=core: a part of it
#   make module     the module for KERNEL (6.1, 6.12, 7.3, newest, …), in build/kmod
#   make python     the Python package, into build/python
#   make install    the controller, its manual pages, the libraries, and the module
#   make deb        Debian packages of the same, in build/deb
#   make style      checkpatch, sparse, clang-tidy, shellcheck, mandoc, layers
#   make clean      remove what was compiled; distclean: all that is in build;
#                   distclean-cache: kernels, roots and compiled objects, which all checkouts share
#   make note-unstable  add what the cache notes of unstable tests to selftests/unstable
#   make help       print this
#
# V=1 prints whole commands.

BUILD	?= $(CURDIR)/build
$(if $(strip $(BUILD)),,$(error BUILD is empty: name a folder, or leave it out))
# One that this machine's own Debian has.
KERNEL	?= $(shell selftests/qemu/fetch default)
PREFIX	?= /usr/local
export SCHEDTAPE_BUILD := $(BUILD)

VERSION	:= $(shell sed -n 's/^\#define SCHEDTAPE_VERSION.*"\(.*\)"/\1/p' include/schedtape/version.h)
CC	?= gcc
OBJCOPY	?= objcopy
CFLAGS	?= -O2 -g
# say WHAT FILE: a short line in place of the command; none with V=1 or -s.
silent	:= $(findstring s,$(firstword -$(MAKEFLAGS)))
Q	:= $(if $(filter 1,$(V)),,@)
say	= $(if $(or $(filter 1,$(V)),$(silent)),,@printf '  %-7s %s\n' $(1) $(2:$(BUILD)/%=%))

LDFLAGS	?= -Wl,-z,relro,-z,now
WARN	:= -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
PKGS	:= libnl-3.0 libnl-genl-3.0 libzstd zlib libxxhash json-c libseccomp ncursesw libsystemd libbpf libkdumpfile libtraceevent
# For export perfetto.  Without it all else is built.
PROTOBUF_C := $(if $(shell pkg-config --exists libprotobuf-c && command -v protoc-c),libprotobuf-c)
PKGS	+= $(PROTOBUF_C)
TAPE_PKGS := libzstd libxxhash json-c libtraceevent
CLIENT_PKGS := $(filter libnl%,$(PKGS))
FLAGS	= -std=gnu11 $(WARN) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude $(SEEN:%=-I%) \
	  $(shell pkg-config --cflags $(PKGS)) -Wa,-Iuser/cmd,-I$(BUILD)
LIBS	= $(shell pkg-config --libs $(PKGS)) -lpthread -lm

# Where files find headers: those of the library in the first two rooms, those of the player
# in three, commands in all. "style layers" checks the rooms within these.
ROOMS	:= user/lib/include user/lib user user/cmd
SEEN	= $(wordlist 1,2,$(ROOMS))
$(BUILD)/user/player/%.o $(BUILD)/player-lib/%.o: SEEN = $(wordlist 1,3,$(ROOMS))
$(BUILD)/user/cmd/%.o: SEEN = $(ROOMS)

LIB_OBJ	:= $(patsubst %.c,$(BUILD)/%.o,$(wildcard user/lib/*/*.c))
# Machines whose system calls are in user/player/arch.h; players of others have libc.
MACHINE	:= $(filter x86_64-% aarch64-%,$(shell $(CC) -dumpmachine))
PLAYER_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard user/player/*.c $(if $(MACHINE),user/player/libc/*.c)))
CMD_OBJ	:= $(patsubst %.c,$(BUILD)/%.o,$(wildcard user/cmd/*.c user/cmd/*/*.c))

# Messages of Perfetto, which protobuf-c compiles.
PERFETTO := user/cmd/export/perfetto
ifneq ($(PROTOBUF_C),)
CMD_OBJ	+= $(BUILD)/$(PERFETTO).pb-c.o
$(BUILD)/user/cmd/export/%.o: FLAGS += -DHAVE_PROTOBUF_C -I$(BUILD)/user/cmd
else
CMD_OBJ	:= $(filter-out $(foreach f,perfetto packets lanes tracks,%/export/$(f).o),$(CMD_OBJ))
endif

all: $(BUILD)/schedtape $(BUILD)/man/schedtape-json.5

# Of the player it has what both use.
$(BUILD)/schedtape: $(CMD_OBJ) $(filter %/engine.o %/cpu-map.o,$(PLAYER_OBJ)) $(BUILD)/user/lib.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The program of players: static and without libc, so that its processes are small. What its start
# does not need is left out, and with that all calls of libc. CFLAGS may ask for what needs a libc.
PLAYER_FLAGS := -fPIE -fno-stack-protector -fno-asynchronous-unwind-tables -U_FORTIFY_SOURCE \
	  -ffunction-sections -fdata-sections -ffreestanding -fno-lto -fno-sanitize=all \
	  $(if $(findstring clang,$(shell $(CC) --version)),,-fno-tree-loop-distribute-patterns) \
	  $(if $(filter aarch64-%,$(MACHINE)),-mno-outline-atomics)
PLAYER_LIB := $(patsubst %,$(BUILD)/player-lib/%.o,base/text machine/calibration)
$(PLAYER_OBJ) $(PLAYER_LIB): OWN_FLAGS = $(PLAYER_FLAGS)

$(BUILD)/schedtape-player: $(PLAYER_OBJ) $(PLAYER_LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -static $(if $(MACHINE),-nostdlib) -s -Wl,--gc-sections,--build-id=none \
		-Wl,-z,noseparate-code,-z,norelro -o $@ $^

$(BUILD)/player-lib/%.o: user/lib/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) $(OWN_FLAGS) -MMD -MP -MT $@ -c -o $@ $<

$(BUILD)/user/lib.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) $(OWN_FLAGS) -MMD -MP -MT $@ -c -o $@ $<

$(BUILD)/$(PERFETTO).pb-c.o: $(BUILD)/$(PERFETTO).pb-c.c
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MT $@ -c -o $@ $<

$(BUILD)/user/cmd/export/packets.o: $(BUILD)/$(PERFETTO).pb-c.h

$(BUILD)/%.pb-c.c $(BUILD)/%.pb-c.h: %.proto
	@mkdir -p $(@D)
	$(call say,PROTOC,$@)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $(<F)

-include $(LIB_OBJ:.o=.d) $(PLAYER_OBJ:.o=.d) $(PLAYER_LIB:.o=.d) $(CMD_OBJ:.o=.d)

# Comments beside the code that prints JSON say what its keys mean. What commands share comes first.
KEYS	:= user/cmd/json-keys.awk
KEYS_OF	:= $(wildcard user/cmd/common/*.c) $(filter-out user/cmd/common/%,$(wildcard user/cmd/*/*.c))
$(BUILD)/man/%.5: Documentation/man/%.5.in $(KEYS) $(KEYS_OF)
	@mkdir -p $(@D)
	$(call say,AWK,$@)
	$(Q)awk -f $(KEYS) $< $(KEYS_OF) > $@.new && mv $@.new $@

# The assembler reads these, of which the compiler knows nothing.
$(BUILD)/user/cmd/report/html-file.o: $(wildcard user/cmd/report/page/*)
$(BUILD)/user/cmd/script/perl.o: user/bindings/perl/engine.pl
$(BUILD)/user/cmd/script/perl-scripts.o: $(wildcard user/bindings/perl/scripts/*)
$(BUILD)/user/cmd/replay/player-program.o: $(BUILD)/schedtape-player

# For other programs there are two libraries, so that those that only read tapes do not need
# libnl: see user/lib/README. The .map files say what of them is public.
LIBRARIES := libschedtape libschedtape-client
libschedtape_ROOMS := base tape decode timeline compare
libschedtape_LIBS = $(shell pkg-config --libs $(TAPE_PKGS)) -lpthread -lm
libschedtape-client_ROOMS := base module
libschedtape-client_LIBS = $(shell pkg-config --libs $(CLIENT_PKGS))
# The number changes when a name goes, or a struct in a way for which its size is no help.
SONUMBER := 0
SOVERSION := $(SONUMBER).$(VERSION:$(firstword $(subst ., ,$(VERSION))).%=%)
DEV	:= $(BUILD)/dev
PIC_OBJ	:= $(patsubst %.c,$(BUILD)/pic/%.o,$(wildcard user/lib/*/*.c))

# library NAME: the shared one; and the static one, which is one object. Calls within the shared
# one are direct, as in the static one.
define library
$(DEV)/$(1).so: $(foreach r,$($(1)_ROOMS),$(filter $(BUILD)/pic/user/lib/$(r)/%,$(PIC_OBJ))) user/lib/$(1).map
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -shared -Wl,-soname,$(1).so.$(SONUMBER) -Wl,-z,defs \
		-Wl,--as-needed,-Bsymbolic-functions,--version-script=user/lib/$(1).map \
		-o $$@ $$(filter %.o,$$^) $$($(1)_LIBS)

$(DEV)/$(1).a: $(foreach r,$($(1)_ROOMS),$(filter $(BUILD)/user/lib/$(r)/%,$(LIB_OBJ))) user/lib/$(1).map
	@mkdir -p $$(@D)
	$$(call say,AR,$$@)
	$$(Q)$$(LD) -r -o $(DEV)/$(1).o $$(filter %.o,$$^)
	$$(Q)sed -n 's/^[[:space:]]*\(schedtape_[a-z0-9_]*\);$$$$/\1/p' user/lib/$(1).map > $(DEV)/$(1).names
	$$(Q)$$(OBJCOPY) --keep-global-symbols=$(DEV)/$(1).names $(DEV)/$(1).o
	$$(Q)rm -f $$@
	$$(Q)$$(AR) rcs $$@ $(DEV)/$(1).o
endef
$(foreach l,$(LIBRARIES),$(eval $(call library,$(l))))

# The Python package, for PYTHONPATH=$(BUILD)/python; on another machine a wheel does that.
PYTHON	?= /usr/bin/python3
PY	:= user/bindings/python
PYTHON_RPATH ?= -Wl,-rpath,$(DEV)
PY_INCLUDE = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')

python: $(BUILD)/python/schedtape/_schedtape.abi3.so
	@cp -Ru $(PY)/schedtape $(BUILD)/python/

$(BUILD)/python/schedtape/_schedtape.abi3.so: $(wildcard $(PY)/*.[ch]) $(DEV)/libschedtape.so
	@test -e $(PY_INCLUDE)/Python.h || \
		{ echo "python: $(PYTHON) has no headers here: install python3-dev" >&2; exit 1; }
	@mkdir -p $(@D)
	$(call say,LD,$@)
	@ln -sf libschedtape.so $(DEV)/libschedtape.so.$(SONUMBER)
	$(Q)$(CC) $(FLAGS) -Wno-missing-field-initializers -fPIC -I$(PY_INCLUDE) $(CPPFLAGS) $(CFLAGS) \
		$(LDFLAGS) -shared $(PYTHON_RPATH) -o $@ $(filter %.c,$^) $(DEV)/libschedtape.so

$(BUILD)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) -fPIC $(CPPFLAGS) $(CFLAGS) -MMD -MP -MT $@ -c -o $@ $<

-include $(PIC_OBJ:.o=.d)

$(DEV)/%.pc: user/lib/%.pc.in include/schedtape/version.h FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' \
		-e 's|@TAPE_PKGS@|$(TAPE_PKGS)|; s|@CLIENT_PKGS@|$(CLIENT_PKGS)|' \
		-e 's|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|' $< > $@

$(DEV)/%.service: user/systemd/%.service.in FORCE
	@mkdir -p $(@D)
	@sed 's|@PREFIX@|$(PREFIX)|' $< > $@

# A kernel's module is built in a folder of its own, from links to the sources, by one make at a
# time: two guests at once must not build into the same files.
# link FOLDER: makes them anew, so that none is left of a file that has moved.
KMOD	= $(BUILD)/kmod/$(KERNEL)
link	= find $(1) -type l -delete && cp -rs $(CURDIR)/kmod/. $(1)/

# Warnings are errors for the tested series. Other headers may cause some.
TESTED	:= $(shell grep '^[0-9]' kmod/tested-series)
KFLAGS	= $(if $(filter $(TESTED),$(KERNEL)),W=1e)

module: KERNEL := $(KERNEL)
module:
	@mkdir -p $(KMOD)
	@ln -sfn $(CURDIR)/include $(BUILD)/kmod/include
	@exec 9> $(KMOD)/.lock && flock 9 && $(call link,$(KMOD)) && \
		selftests/qemu/build-module $(NEEDS:%=--install %) $(KERNEL) $(KMOD) $(KFLAGS) 9>&-

# In a guest, so that it needs no module support here and can do no harm; one CPU
# that counts instructions, because an emulated CPU that stalls looks like load,
# and all files in memory: each run shows the same.
DEMO	:= service
DEMO_FILES = selftests/demo $(BUILD)/schedtape $(DEMO:%=$(BUILD)/demo/%) \
	/usr/bin/script /usr/bin/env

demo: demo-setup
	@$(MAKE) -s all $(DEMO:%=$(BUILD)/demo/%)
ifeq ($(HOST),1)
	@$(MAKE) -s host-module
	@BUILD=$(BUILD) TAPES=$(BUILD)/demo selftests/demo
else
	@selftests/qemu/vm --kernel $(KERNEL) --icount $(DEMO_FILES:%=--file %) \
		--rw $(BUILD)/demo -- \
		"BUILD=$(BUILD) TAPES=$(BUILD)/demo selftests/demo"
endif

# Static, because a library that is read from a disk makes runs differ.
$(BUILD)/demo/%: selftests/workloads/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) $(CFLAGS) -static -o $@ $<

# For the running kernel, and into it.
host-build:
	@mkdir -p $(BUILD)/kmod/host
	@ln -sfn $(CURDIR)/include $(BUILD)/kmod/include
	@$(call link,$(BUILD)/kmod/host)
	$(MAKE) -s -C $(BUILD)/kmod/host modules

# Headers of another kernel make a module that this one refuses.
host-module: host-build
	@built=$$(modinfo -F vermagic $(BUILD)/kmod/host/schedtape.ko) && built=$${built%% *} && \
	test "$$built" = "$$(uname -r)" || { echo "schedtape: the headers are those of $$built," \
		"but this machine runs $$(uname -r): install linux-headers-$$(uname -r)" >&2; exit 1; }
	@test -e /sys/module/schedtape || insmod $(BUILD)/kmod/host/schedtape.ko || { \
		echo "schedtape: the kernel has refused the module: dmesg says why" >&2; exit 1; }

setup:
	@selftests/qemu/setup

demo-setup:
	@selftests/qemu/setup program module $(if $(filter 1,$(HOST)),,guest)

# TESTS: some of them.
unit:
	@$(MAKE) -s -C selftests/unit run OUT=$(BUILD)/unit

# KASAN and TESTS: see selftests/quick.
quick: setup
	@selftests/quick

# PART, TESTS and KERNELS: see selftests/check.
check: setup
	@selftests/check $(PART)

check-all: setup
	@selftests/check all

# Says in selftests/suite/check.result how it went. DEBUG: some of the kernels.
check-debug: setup
	@selftests/check-debug $(DEBUG)

# For long: check has a short run of the same. Hours; INPUTS for each of the guest's
# fuzzers, RUNS for each of the parsers'.
INPUTS	?= 1000000
RUNS	?= 2000000

fuzz: setup
	@$(MAKE) -s -C selftests/fuzz run RUNS=$(RUNS)
	@selftests/fuzz/guest --inputs $(INPUTS) --timeout 36000

# Many hours. ONLY: some of the parts that selftests/reliability names.
reliability: setup
	@selftests/reliability $(ONLY)

# ONLY: some of the parts that selftests/bench/run names.
bench: setup
	@KERNEL=$(KERNEL) selftests/bench/run $(ONLY)

.PHONY: all python module demo host-build host-module setup demo-setup unit quick check check-all check-debug fuzz \
	reliability bench

# Into DESTDIR, for a package; or else into this machine, the module by DKMS, or
# where there is none, for the kernel KVER.
INSTALL	?= install
LIBDIR	?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR	?= $(PREFIX)/share/man
DOCDIR	?= $(PREFIX)/share/doc/schedtape
BASHDIR	?= $(PREFIX)/share/bash-completion/completions
ZSHDIR	?= $(PREFIX)/share/zsh/site-functions
FISHDIR	?= $(PREFIX)/share/fish/vendor_completions.d
UDEVDIR	?= /usr/lib/udev/rules.d
SYSUSERSDIR ?= /usr/lib/sysusers.d
UNITDIR	?= /usr/lib/systemd/system
KVER	?= $(shell uname -r)
DKMS	?= $(shell PATH=$$PATH:/usr/sbin:/sbin command -v dkms)
SRCDIR	:= /usr/src/schedtape-$(VERSION)
KO	= /lib/modules/$(KVER)/updates/schedtape.ko
PAGES	:= $(wildcard Documentation/man/*.[1-8]) $(BUILD)/man/schedtape-json.5
MODULE_SRC := dkms.conf COPYING $(wildcard LICENSES/*) $(wildcard include/schedtape/*.h) \
	  kmod/Kbuild kmod/Makefile kmod/dkms-try kmod/tested-series $(wildcard kmod/*.[ch] kmod/*/*.[ch])

# file:mode:where
INSTALLED = $(BUILD)/schedtape:755:$(PREFIX)/bin/schedtape \
	  $(BUILD)/schedtape-player:755:$(PREFIX)/libexec/schedtape/player \
	  $(foreach p,$(PAGES),$(p):644:$(MANDIR)/man$(subst .,,$(suffix $(p)))/$(notdir $(p))) \
	  user/completion/schedtape.bash:644:$(BASHDIR)/schedtape \
	  user/completion/_schedtape:644:$(ZSHDIR)/_schedtape \
	  user/completion/schedtape.fish:644:$(FISHDIR)/schedtape.fish \
	  kmod/60-schedtape.rules:644:$(UDEVDIR)/60-schedtape.rules \
	  kmod/schedtape.sysusers:644:$(SYSUSERSDIR)/schedtape.conf \
	  $(DEV)/schedtape@.service:644:$(UNITDIR)/schedtape@.service \
	  $(foreach l,$(LIBRARIES),$(DEV)/$(l).so:644:$(LIBDIR)/$(l).so.$(SOVERSION) \
		$(DEV)/$(l).a:644:$(LIBDIR)/$(l).a $(DEV)/$(l).pc:644:$(LIBDIR)/pkgconfig/$(l).pc) \
	  $(foreach h,$(wildcard user/lib/include/*.h),$(h):644:$(INCLUDEDIR)/$(notdir $(h))) \
	  $(foreach h,$(wildcard user/lib/include/schedtape/*.h),$(h):644:$(INCLUDEDIR)/schedtape/$(notdir $(h))) \
	  $(foreach h,$(wildcard include/schedtape/*.h),$(h):644:$(INCLUDEDIR)/schedtape/$(notdir $(h))) \
	  $(foreach e,$(wildcard Documentation/examples/*.c),$(e):644:$(DOCDIR)/examples/$(notdir $(e)))

# target:where
LINKED	= $(foreach l,$(LIBRARIES),$(l).so.$(SOVERSION):$(LIBDIR)/$(l).so.$(SONUMBER) \
		$(l).so.$(SONUMBER):$(LIBDIR)/$(l).so)

# Lets the loader find new libraries, and forget old ones. A user who is not root may install into
# a folder of their own.
ldconfig = $(if $(DESTDIR),,-@PATH=$$PATH:/usr/sbin:/sbin; test "$$(id -u)" != 0 || ldconfig)

install: install-user $(if $(DESTDIR),dkms-source,group $(if $(DKMS),dkms,module)-install)

install-user: all $(LIBRARIES:%=$(DEV)/%.so) $(LIBRARIES:%=$(DEV)/%.a) $(LIBRARIES:%=$(DEV)/%.pc) $(DEV)/schedtape@.service
	@for f in $(INSTALLED); do \
		IFS=:; set -- $$f; \
		$(INSTALL) -m $$2 -D $$1 $(DESTDIR)$$3 || exit; \
	done
	@for f in $(LINKED); do ln -sf $${f%%:*} $(DESTDIR)$${f##*:} || exit; done
	$(ldconfig)

# For a package, which sets PYTHONDIR; a virtual environment uses pip.
install-python: python
	@cd $(BUILD)/python && find schedtape -type f -not -path '*/__pycache__/*' \
		-exec $(INSTALL) -m 644 -D {} $(DESTDIR)$(PYTHONDIR)/{} \;

dkms-source:
	rm -rf $(DESTDIR)$(SRCDIR)
	@for f in $(MODULE_SRC); do \
		$(INSTALL) -m 644 -D $$f $(DESTDIR)$(SRCDIR)/$$f || exit; \
	done

dkms-install: dkms-source
	-$(DKMS) remove -m schedtape -v $(VERSION) --all > /dev/null 2>&1
	$(DKMS) add -m schedtape -v $(VERSION)
	$(DKMS) build -m schedtape -v $(VERSION) -k $(KVER)
	$(DKMS) install -m schedtape -v $(VERSION) -k $(KVER)

module-install:
	$(MAKE) -s host-build KDIR=/lib/modules/$(KVER)/build
	$(INSTALL) -m 644 -D $(BUILD)/kmod/host/schedtape.ko $(KO)
	depmod $(KVER)

# Whose members may open the device.
group:
	getent group schedtape > /dev/null || groupadd --system schedtape

uninstall:
ifeq ($(DESTDIR),)
	$(if $(DKMS),-$(DKMS) remove -m schedtape -v $(VERSION) --all)
	if [ -e $(KO) ]; then rm $(KO) && depmod $(KVER); fi
endif
	rm -rf $(DESTDIR)$(SRCDIR)
	@for f in $(INSTALLED) $(LINKED); do rm -f $(DESTDIR)$${f##*:} || exit; done
	$(ldconfig)
	-@cd $(DESTDIR)/ && rmdir --ignore-fail-on-non-empty \
		$(patsubst /%,%,$(INCLUDEDIR)/schedtape $(PREFIX)/libexec/schedtape $(DOCDIR)/examples $(DOCDIR))

# In a copy of the sources: the packages come to lie beside it.
deb: setup
	rm -rf $(BUILD)/deb
	mkdir -p $(BUILD)/deb/schedtape-$(VERSION)
	tar c --exclude-vcs --exclude=./build --exclude='*.o' . | tar x -C $(BUILD)/deb/schedtape-$(VERSION)
	cd $(BUILD)/deb/schedtape-$(VERSION) && env -u BUILD -u SCHEDTAPE_BUILD -u MAKEFLAGS -u MAKELEVEL \
		dpkg-buildpackage -us -uc
	rm -rf $(BUILD)/deb/schedtape-$(VERSION)

style: setup
	@selftests/style

# Links to kernels and other things in the cache stay: the checkout keeps what they name.
CLEAN	:= user schedtape-player player-lib pic schedtape dev man demo deb kmod unit selftests fuzz san \
	   planted scx bench check check-debug quick reliability
FETCHED	:= kernels linux packages plugin-header qemu roots servers hosts vm

clean:
	rm -rf $(CLEAN:%=$(BUILD)/%)

distclean: clean
	rm -rf $(FETCHED:%=$(BUILD)/%)
	rmdir --ignore-fail-on-non-empty $(wildcard $(BUILD))

# For all checkouts of this user; what ".ci/run" has noted there stays.
distclean-cache:
	rm -rf $(addprefix $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/schedtape/, \
		apt ccache kernels kmod packages roots sources)

# In the commit that mends a test or takes it out of the gate.
note-unstable:
	@selftests/suite/note-unstable

help:
	@sed -n '2,/^$$/s/^#\( \{0,3\}\|$$\)//p' Makefile

# What a variable is here, for scripts.
print-%:
	@echo '$($*)'

FORCE:
.PHONY: clean distclean distclean-cache note-unstable help install install-user install-python dkms-source dkms-install module-install group uninstall deb style FORCE
