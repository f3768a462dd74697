# SPDX-License-Identifier: GPL-2.0-or-later
#
# One makefile for everything. The folders, what each may include and which
# library it links come from scripts/layers.tsv. What is built lies in $(BUILD)
# in the layout it is installed in, so that the program finds its data the same
# way in both places: BUILD/bin/labctl, BUILD/share/labctl/...
#
#   make              the program, the guest agent, the man page
#   make demo         from a fresh Debian 12 to a comparison of two kernels (root)
#   make demo-live    the same on machines whose clock is the wall's
#   make check        set-up and all tests
#   make help         the other targets

VERSION := 0.1.0
BUILD ?= build
BUILD_GIVEN := $(BUILD)
prefix ?= /usr/local
bindir ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir ?= $(prefix)/share/man
DESTDIR ?=

CC ?= gcc
PKG_CONFIG ?= pkg-config
OPT ?= -O2 -g
SANITIZE ?=
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wno-missing-field-initializers
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. $(OPT) $(WARNINGS) -fno-strict-aliasing $(CFLAGS)
ifneq ($(SANITIZE),)
ALL_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=undefined
SAN_LDFLAGS := -fsanitize=$(SANITIZE)
# Sanitized objects never mix with plain ones.
comma := ,
override BUILD := $(BUILD)/$(subst $(comma),-,$(SANITIZE))
endif

# These only start other programs and must work, in silence, before anything is installed.
OUTER := setup check demo demo-live help clean
pkg_config := $(if $(filter-out $(OUTER),$(or $(MAKECMDGOALS),all)),$(PKG_CONFIG),true)
JOBS ?= $(shell nproc)

# may_FOLDER, pkgs_FOLDER and FOLDERS, from the table; "~" stands for a blank on the way.
$(foreach line,$(shell awk -F'\t' '/^[a-z]/ { for (i = 2; i <= 3; i++) { gsub(/^-$$/, "", $$i); gsub(" ", "~", $$i) } \
	print "may_" $$1 ":=" $$2; print "pkgs_" $$1 ":=" $$3; print "FOLDERS+=" $$1 }' scripts/layers.tsv),$(eval $(subst ~, ,$(line))))
$(foreach f,$(FOLDERS),$(if $(pkgs_$(f)),$(eval cflags_$(f) := $(shell $(pkg_config) --cflags $(pkgs_$(f))))))
have = $(foreach f,$(1),$(if $(wildcard $(f)/*.c),$(f)))

# What a folder links: itself, then what it may include, from the top of the table down.
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
closure = $(filter $(1) $(may_$(1)) $(foreach f,$(may_$(1)),$(may_$(f))),$(call reverse,$(FOLDERS)))
libs_of = $(foreach f,$(call have,$(call closure,$(1))),$(BUILD)/lib$(f).a)
pkgs_of = $(sort $(foreach f,$(call have,$(call closure,$(1))),$(pkgs_$(f))))
link_of = $(if $(call pkgs_of,$(1)),$(shell $(pkg_config) --libs $(call pkgs_of,$(1)))) -lm -lpthread

.PHONY: all
all: $(BUILD)/bin/labctl $(BUILD)/libexec/labctl/labctl-agent $(BUILD)/libexec/labctl/labctl-profile.so data man

# ---- the program -------------------------------------------------------------

define folder_rules
OBJS_$(1) := $$(patsubst %.c,$$(BUILD)/obj/%.o,$$(wildcard $(1)/*.c))
$$(OBJS_$(1)): FOLDER_CFLAGS = $(cflags_$(1))
$$(BUILD)/lib$(1).a: $$(OBJS_$(1))
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_rules,$(f))))

Q := $(if $(V),,@)
say = @printf '  %-8s %s\n' $(1) $(2)

$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) $(FOLDER_CFLAGS) -DLABCTL_VERSION='"$(VERSION)"' -MMD -MP -c $< -o $@

$(BUILD)/bin/labctl: $(call libs_of,cli)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(SAN_LDFLAGS) -o $@ $(OBJS_cli) $(filter-out $(BUILD)/libcli.a,$^) $(call link_of,cli)

# ---- the guest agent: static, never sanitized, its own objects --------------

GUEST_SRC := $(wildcard common/*.c protocol/*.c guest-agent/*.c)
GUEST_OBJ := $(patsubst %.c,$(BUILD)/guest/%.o,$(GUEST_SRC))
GUEST_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. -O2 -g $(WARNINGS) -fno-strict-aliasing -ffile-prefix-map=$(CURDIR)=.

$(BUILD)/guest/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC/guest,$<)
	$(Q)$(CC) $(GUEST_CFLAGS) -DLABCTL_VERSION='"$(VERSION)"' -MMD -MP -c $< -o $@

$(BUILD)/libexec/labctl/labctl-agent: $(GUEST_OBJ)
	@mkdir -p $(@D)
	$(call say,LD/guest,$@)
	$(Q)$(CC) -static -Wl,--build-id=sha1 -o $@.debug $^ $(shell $(pkg_config) --libs --static jansson)
	$(Q)strip -o $@ $@.debug

# ---- QEMU's plugin: loaded by an unsanitized program, libc only --------------

$(BUILD)/libexec/labctl/labctl-profile.so: $(wildcard tcg-plugin/*.[ch]) protocol/marker.h Makefile
	@mkdir -p $(@D)
	$(call say,CC/so,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. -O2 -g $(WARNINGS) $(CFLAGS) -fPIC -shared -fvisibility=hidden -o $@ \
		$(filter %.c,$^)

# ---- data: recipes, definitions, fragments -----------------------------------

DATA_SRC := $(wildcard images/recipes/*.yaml experiments/definitions/*.yaml builder/fragments/*.config)
data_dst = $(BUILD)/share/labctl/$(notdir $(patsubst %/,%,$(dir $(1))))/$(notdir $(1))
DATA_DST := $(foreach f,$(DATA_SRC),$(call data_dst,$(f)))
define data_rule
$(call data_dst,$(1)): $(1)
	@mkdir -p $$(@D)
	$$(Q)cp $$< $$@
endef
$(foreach f,$(DATA_SRC),$(eval $(call data_rule,$(f))))

.PHONY: data man
data: $(DATA_DST)

MAN_SRC := $(wildcard docs/man/*.scd)
MAN_DST := $(patsubst docs/man/%.scd,$(BUILD)/share/man/man1/%,$(MAN_SRC))
man: $(MAN_DST)
$(BUILD)/share/man/man1/%: docs/man/%.scd
	@mkdir -p $(@D)
	$(call say,MAN,$@)
	$(Q)scdoc < $< > $@

.PHONY: install
install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(prefix)/libexec/labctl $(DESTDIR)$(mandir)/man1
	install -m 755 $(BUILD)/bin/labctl $(DESTDIR)$(bindir)/labctl
	install -m 755 $(BUILD)/libexec/labctl/labctl-agent $(DESTDIR)$(prefix)/libexec/labctl/labctl-agent
	install -m 644 $(BUILD)/libexec/labctl/labctl-profile.so $(DESTDIR)$(prefix)/libexec/labctl/labctl-profile.so
	for f in $(DATA_DST); do install -D -m 644 $$f $(DESTDIR)$(datadir)/$${f#$(BUILD)/share/} || exit 1; done
	for f in $(MAN_DST); do install -m 644 $$f $(DESTDIR)$(mandir)/man1/ || exit 1; done
	install -d $(DESTDIR)$(datadir)/bash-completion/completions
	$(BUILD)/bin/labctl completion bash >$(DESTDIR)$(datadir)/bash-completion/completions/labctl

# ---- tests -------------------------------------------------------------------
# tests/unit/test_FOLDER[_WHAT].c links the objects of FOLDER and of what it may
# include, nothing else (guest-agent is spelled guest, tcg-plugin tcg).

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(UNIT_SRC))
unit_folder = $(patsubst tcg,tcg-plugin,$(patsubst guest,guest-agent,$(word 2,$(subst _, ,$(1)))))
define unit_rule
$(BUILD)/obj/tests/unit/$(1).o: FOLDER_CFLAGS = $(foreach f,$(call closure,$(call unit_folder,$(1))),$(cflags_$(f))) -DTESTS_DIR='"tests"'
$(BUILD)/tests/$(1): $(BUILD)/obj/tests/unit/$(1).o $(call libs_of,$(call unit_folder,$(1)))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(SAN_LDFLAGS) -o $$@ $$^ -lcmocka $(call link_of,$(call unit_folder,$(1)))
endef
$(foreach t,$(UNIT_SRC),$(eval $(call unit_rule,$(notdir $(t:.c=)))))

# Tests of the agent run it as a process; sanitized, it is made of the host's objects.
ifneq ($(SANITIZE),)
TEST_AGENT := $(BUILD)/libexec/labctl/labctl-agent-sanitized
$(TEST_AGENT): $(call libs_of,guest-agent)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(SAN_LDFLAGS) -Wl,--build-id=sha1 -o $@ $(OBJS_guest-agent) \
		$(filter-out $(BUILD)/libguest-agent.a,$^) $(call link_of,guest-agent)
else
TEST_AGENT := $(BUILD)/libexec/labctl/labctl-agent
endif
$(filter $(BUILD)/tests/test_guest_%,$(UNIT_BIN)): | $(TEST_AGENT)

.PHONY: unit check-unit
unit: $(UNIT_BIN)
check-unit: unit
	$(Q)scripts/run-unit $(UNIT_BIN)

# machine_test drives one machine through the product's own code; guest_test runs inside.
MACHINE_LIBS := $(filter-out $(patsubst %,$(BUILD)/lib%.a,experiments builder workloads),$(call libs_of,experiments))
$(BUILD)/obj/tests/integration/machine_test.o: FOLDER_CFLAGS = $(cflags_vmctl)
$(BUILD)/tests/machine_test: $(BUILD)/obj/tests/integration/machine_test.o $(MACHINE_LIBS)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(SAN_LDFLAGS) -o $@ $^ $(call link_of,images) $(call link_of,vmctl)
$(BUILD)/tests/guest_test: tests/integration/guest_test.c
	@mkdir -p $(@D)
	$(call say,CC/guest,$@)
	$(Q)$(CC) $(GUEST_CFLAGS) -static -s -o $@ $<

# Integration tests are TAP programs that use the built program from outside, each with a
# lab of its own. They run side by side, one more than there are processors, since they also
# wait; the last in the list take longest and begin.
INTEGRATION ?= $(call reverse,$(sort $(wildcard tests/integration/*.t)))
.PHONY: check-integration
check-integration: all $(BUILD)/tests/machine_test $(BUILD)/tests/guest_test
	@echo "== integration tests"
	$(Q)BUILD=$(abspath $(BUILD)) scripts/with-test-lab prove --timer -j$$(($(JOBS) + 1)) $(PROVE_FLAGS) $(INTEGRATION)

# Fuzz targets: tests/fuzz/fuzz_NAME.c with the folders it needs; FUZZ_SECONDS each.
FUZZ_SECONDS ?= 60
FUZZ_NAMES := frame config hackbench
FUZZ_frame := common protocol
FUZZ_config := common config
FUZZ_hackbench := common protocol store archive workloads
define fuzz_rule
$(BUILD)/fuzz/$(1): tests/fuzz/fuzz_$(1).c $$(foreach f,$$(FUZZ_$(1)),$$(wildcard $$(f)/*.c))
	@mkdir -p $$(@D)
	$$(call say,FUZZ,$$@)
	$$(Q)clang -std=gnu11 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined -DLABCTL_VERSION='"$$(VERSION)"' \
		-o $$@ $$^ $$(foreach f,$$(FUZZ_$(1)),$$(if $$(pkgs_$$(f)),$$(shell $$(PKG_CONFIG) --cflags --libs $$(pkgs_$$(f))))) -lm
endef
$(foreach n,$(FUZZ_NAMES),$(eval $(call fuzz_rule,$(n))))

.PHONY: fuzz
fuzz: $(foreach n,$(FUZZ_NAMES),$(BUILD)/fuzz/$(n))
	$(Q)for n in $(FUZZ_NAMES); do mkdir -p $(BUILD)/fuzz/corpus-$$n && \
		$(BUILD)/fuzz/$$n -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=$(BUILD)/fuzz/ \
		$(BUILD)/fuzz/corpus-$$n tests/fuzz/corpus/$$n || exit 1; done

.PHONY: setup check check-run demo demo-live
setup:
	@scripts/setup

# The second make reads the libraries' flags after the set-up has installed them.
check: setup
	@+$(MAKE) --no-print-directory BUILD=$(BUILD_GIVEN) -j$(JOBS) all unit
	@BUILD=$(abspath $(BUILD)) scripts/with-test-lab true
	@+$(MAKE) --no-print-directory BUILD=$(BUILD_GIVEN) check-run
check-run:
	@scripts/check-layers
	@scripts/run-unit $(UNIT_BIN)
	@$(MAKE) --no-print-directory BUILD=$(BUILD_GIVEN) check-integration

# A lab in $(DEMO_LAB) with two kernels, a campaign and its comparison; the second time
# everything is there already.
DEMO_LAB ?= /var/lib/labctl-demo
demo: DEMO_TARGET := exact
demo-live: DEMO_TARGET := live
demo demo-live: setup
	@+$(MAKE) --no-print-directory BUILD=$(BUILD_GIVEN) -j$(JOBS) all
	@DEMO_LAB=$(DEMO_LAB) DEMO_TARGET=$(DEMO_TARGET) BUILD=$(abspath $(BUILD)) scripts/demo

.PHONY: check-layers check-headers lint format clean help
check-layers:
	@scripts/check-layers

C_FILES = $(shell git ls-files '*.c' '*.h')
format:
	clang-format -i $(C_FILES)

# Formatting, headers that compile alone, layers, and two static analysers.
lint: check-layers check-headers
	@echo "== clang-format"
	@clang-format --dry-run -Werror $(C_FILES)
	@scripts/lint $(JOBS)

CHECK_HEADERS := $(patsubst %.h,$(BUILD)/headers/%.ok,$(wildcard $(addsuffix /*.h,$(FOLDERS))))
check-headers: $(CHECK_HEADERS)
	@echo "headers: $(words $^) compile alone"
$(foreach f,$(FOLDERS),$(eval $(BUILD)/headers/$(f)/%.ok: FOLDER_CFLAGS = $(foreach g,$(call closure,$(f)),$(cflags_$(g)))))
$(BUILD)/headers/%.ok: %.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(FOLDER_CFLAGS) -Wno-unused-function -fsyntax-only -MMD -MP -MF $(@:.ok=.d) -MT $@ -x c $<
	$(Q)touch $@

clean:
	rm -rf $(BUILD)

help:
	@sed -n '/^# One makefile/,/^$$/s/^# \{0,1\}//p' Makefile

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
