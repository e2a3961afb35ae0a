# SPDX-License-Identifier: GPL-2.0-only
#
# All of user/ with sanitizers and for fuzzers: see SAN in objects.mk.
TOP	:= ../..

include objects.mk

$(SAN)/%.o: $(TOP)/user/%.c
	@mkdir -p $(@D)
	$(SAN_CC) $(SAN_CFLAGS) -fsanitize=fuzzer-no-link -MT $@ -c -o $@ $<

$(GENERATED:%=$(SAN)/%.o): $(GENERATED:%=$(MADE)/%.c)
	@mkdir -p $(@D)
	$(SAN_CC) $(SAN_CFLAGS) -fsanitize=fuzzer-no-link -MT $@ -c -o $@ $<

# All may include the headers.
$(OBJECTS:%=$(SAN)/%.o): | $(GENERATED:%=$(MADE)/%.c)

$(GENERATED:%=$(MADE)/%.c):
	$(MAKE) -s -C $(TOP) BUILD=$(MADE:%/user=%) $@

$(SAN)/user.a: $(OBJECTS:%=$(SAN)/%.o)
	rm -f $@ && $(AR) rcs $@ $^

-include $(OBJECTS:%=$(SAN)/%.d)
