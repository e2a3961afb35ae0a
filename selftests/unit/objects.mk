# SPDX-License-Identifier: GPL-2.0-only
#
# Objects for unit tests and fuzzers: all of user/ except main(), the start and the libc of the
# program of players, that program as data, and what is not for programs in C; and the settings of
# the top Makefile for them.
GENERATED := cmd/export/perfetto.pb-c
OBJECTS	:= $(filter-out cmd/main cmd/replay/player-program player/start player/libc/% bindings/%,\
	   $(patsubst $(TOP)/user/%.c,%,$(wildcard $(TOP)/user/*/*.c $(TOP)/user/*/*/*.c))) $(GENERATED)
ROOMS	:= $(shell sed -n 's/^ROOMS[[:space:]]*:= //p' $(TOP)/Makefile)
PKGS	:= $(shell sed -n 's/^PKGS[[:space:]]*:= //p' $(TOP)/Makefile) libprotobuf-c
# Where the top Makefile leaves sources that it makes.
MADE	:= $(abspath $(or $(SCHEDTAPE_BUILD),$(TOP)/build))/user
LIBS	:= $(shell pkg-config --libs $(PKGS)) -lm
TEST_CFLAGS := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Wall -Wextra -Werror -Wshadow \
	  -Wstrict-prototypes -I$(TOP)/include $(ROOMS:%=-I$(TOP)/%) $(shell pkg-config --cflags $(PKGS)) \
	  -Wa,-I$(TOP)/user/cmd -I$(MADE)/cmd -DHAVE_PROTOBUF_C -MMD -MP

# Fuzzers need clang and its sanitizers. Unit tests use the same objects, so that they are compiled
# once. One make at a time does so: those of unit/ and fuzz/ run side by side.
SAN	:= $(abspath $(or $(SCHEDTAPE_BUILD),$(TOP)/build))/san
SAN_CC	:= clang
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
SAN_CFLAGS := -O1 -g1 $(TEST_CFLAGS) $(SANITIZE) -fno-omit-frame-pointer -Wno-missing-field-initializers
MAKE_SAN = mkdir -p $(SAN) && flock $(SAN)/lock $(MAKE) -s -C $(TOP)/selftests/unit -f sanitized.mk
