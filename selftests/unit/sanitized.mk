# SPDX-License-Identifier: GPL-2.0-only
#
# All of user/ with sanitizers and for fuzzers: see SAN in objects.mk.
TOP	:= ../..

include objects.mk

$(SAN)/%.o: $(TOP)/user/%.c
	@mkdir -p $(@D)
	$(SAN_CC) $(SAN_CFLAGS) -fsanitize=fuzzer-no-link -MT $@ -c -o $@ $<

$(SAN)/user.a: $(OBJECTS:%=$(SAN)/%.o)
	rm -f $@ && $(AR) rcs $@ $^

-include $(OBJECTS:%=$(SAN)/%.d)
