# Warpbook.
#   make grade    set up, build, grade what is in chapters/ on the default device
#   make check    set up, build, run the tests; make check-long the whole programs and the whole book, make check-hostile the attacks
#   make check-mufu   the approximate functions of every operand, against what an H100 gave
#   make          build/grader, build/simgpu and what they need
#   make bench    how fast the simulator runs; make bench-calls: what the runtime's calls cost; make fuzz: libFuzzer on what reads foreign bytes
#   make pictures the lessons' pictures
#   make site     lessons, tasks, ladders and guides as static pages, in build/site
#   make test SUITE=name, make format: docs/contributing.md
# Variables: SAN=1 builds with ASan and UBSan into build/san; LEVELS=all builds for all processors; V=1 shows the commands.

MAKEFLAGS += -j$(shell nproc)
# CROSS=aarch64-linux-gnu- SYSROOT=/path builds for another processor, into build/aarch64 (docs/arm.md).
CC     := $(CROSS)gcc$(SYSROOT:%= --sysroot=%)
CXX    := $(CROSS)g++$(SYSROOT:%= --sysroot=%)
ARCH   := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || uname -m)))
B      := $(if $(CROSS),build/$(ARCH)$(SAN:%=-san),$(if $(SAN),build/san,build))
comma  := ,
OPT    := $(if $(SAN),-O1 -fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer,-O2)
# Hidden visibility: no name of ours may stand in for one of a library in the same process (the NVIDIA driver calls bind).
HARDEN := -fPIE -fstack-protector-strong $(if $(SAN),,-D_FORTIFY_SOURCE=2)
# What C leaves to the processor, and results would depend on: char has a sign, a product and a sum are two roundings.
SAME   := -fsigned-char -ffp-contract=off
# Warnings are errors with the compilers that were seen without any; a newer one may have warnings of its own.
WERROR := $(if $(SAN)$(filter-out 12 14 16,$(shell $(CC) -dumpversion 2>/dev/null | cut -d. -f1)),,-Werror)
CFLAGS := -std=gnu11 -g $(OPT) -I. -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
          -Wno-psabi $(SAME) -fno-math-errno -pthread -D_GNU_SOURCE -fvisibility=hidden $(HARDEN)
LDFLAGS := -pie -Wl,-z,relro,-z,now
# What setup.sh found out: where headers are (read from a file when it is needed, as are the libraries' options).
HEADERS = @$(B)/deps/headers
lib     = $(1:%=@$(B)/deps/%)
LDLIBS  = $(call lib,jansson archive sqlite3 yaml ffi zstd lz4 seccomp md) -ldl -lm -pthread $(CARRIED)
# Libraries that `make gpu-carry` puts beside the programs are found there by programs and by each other.
CARRIED := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib/carry:$$ORIGIN/../lib/carry'
CHECKLIBS = $(call lib,check) -lrt -lstdc++
Q      := $(if $(V),,@)
CUDA   := $(B)/cuda
# Where nvcc and its headers are: found by grader/setup.sh, which leaves a link.

all: $(B)/grader $(B)/simgpu $(B)/libexec/hostproc $(B)/libexec/device $(B)/lib/libwbcudart.a

# ---- set-up: libraries, packages and compiler; runs again when its inputs change ----
SETUP := CC='$(CC)' CXX='$(CXX)' sh grader/setup.sh
ifdef CROSS
# The other machine's libraries are in SYSROOT; the toolkit is this machine's, whose nvcc compiles for both.
$(B)/setup.done: grader/tests/arm/arm.sh grader/packages.txt | build/cuda
	$(Q)mkdir -p $(@D) && sh $< toolkit build/cuda $(B)/cuda && PKG_CONFIG=false $(SETUP) $(B) libraries && touch $@
build/cuda:
	$(Q)sh grader/setup.sh build && touch build/setup.done
else
$(B)/setup.done: grader/setup.sh grader/packages.txt
	$(Q)$(SETUP) $(B) && touch $@
endif
setup:
	$(Q)rm -f $(B)/setup.done $(B)/site.done && $(MAKE) --no-print-directory $(B)/setup.done

# ---- what is compiled: every .c under these folders, found by name ----
common_c  := $(wildcard common/*.c)
exec_c   := $(wildcard grader/sim/*/exec_*.c)
sim_c     := $(filter-out $(exec_c),$(wildcard grader/sim/*.c grader/sim/*/*.c))
server_c  := $(wildcard grader/server/*.c)
runtime_c := $(filter-out grader/runtime/host.c,$(wildcard grader/runtime/*.c))
layers     := jail book grade report class cli
page_c    := $(wildcard grader/page/*.c)
grader_c  := $(filter-out grader/cli/main.c,$(foreach layer,$(layers),$(wildcard grader/$(layer)/*.c)))
simgpu_c  := $(wildcard grader/simgpu/*.c)
device_c  := $(wildcard grader/device/*.c)
chapter_c := $(wildcard chapters/*/*_test.c)
unit_c    := $(wildcard grader/tests/unit/*.c grader/tests/fuzz/*.c)
hostile_c := $(wildcard grader/tests/hostile/*.c)
taken_c   := $(wildcard grader/tests/hostile/device/*.c)
bench_c   := $(wildcard grader/tests/bench/*.c)
bench_cu  := $(wildcard grader/tests/bench/*.cu)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
# Levels of vector instructions, from one list for all processors. A level takes most of a minute to build, so that by default those are
# built that the machine at hand can use: the first, which every machine has, and the last of those that it has.
levels = sed -n 's/^LEVEL_$(ARCH)(\([a-z0-9]*\), .*, \([A-Za-z0-9]*\), \(-.*\))$$/$(1)/p' grader/sim/code/isa_levels.def
LEVELS ?= $(if $(CROSS)$(filter deb check-deb gpu-carry,$(MAKECMDGOALS)),all,own)
every  := $(shell $(call levels,\1))
here   := $(shell $(call levels,\1 \2) | while read -r level flag; do grep -qw $$flag /proc/cpuinfo && echo $$level; done)
ISAS   := $(if $(filter all,$(LEVELS)),$(every),$(sort $(firstword $(every)) $(lastword $(here))))
$(if $(ISAS),,$(error $(CC) makes code for $(ARCH), for which grader/sim/code/isa_levels.def has no row: x86-64 and aarch64 it is))
exec_o := $(foreach isa,$(ISAS),$(patsubst %.c,$(B)/obj/%.$(isa).o,$(exec_c)))
base_o  := $(call obj,$(common_c) $(sim_c) $(server_c)) $(exec_o)
grader_cpp := $(wildcard grader/class/*.cpp)
grader_o := $(call obj,$(grader_c) $(page_c) $(chapter_c)) $(patsubst %.cpp,$(B)/obj/%.o,$(grader_cpp))

$(B)/obj/%.o: %.c $(B)/flags | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) $(HEADERS) -MMD -MP -c $< -o $@

# One file: toml++ behind a C header (docs/architecture.md).
$(B)/obj/%.o: %.cpp $(B)/flags | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -g $(OPT) $(SAME) -I. -Wall -Wextra $(WERROR) -fno-exceptions -fno-rtti -fvisibility=hidden $(HARDEN) $(HEADERS) -MMD -MP -c $< -o $@

# The lane functions are built once for each level of vector instructions and chosen when the program starts.
define exec_rule
$(B)/obj/%.$(1).o: %.c $(B)/flags | $(B)/setup.done
	@mkdir -p $$(@D)
	$(Q)$(CC) $(CFLAGS) $(if $(SAN),,-O3) -fno-trapping-math $(2) -DISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call exec_rule,$(isa),$(shell $(call levels,\1 \3) | sed -n 's/^$(isa) //p'))))

# What runs in the jail is never sanitised: a student's object links with it, and the jail's limits leave no room for shadows.
$(B)/obj/grader/runtime/%.o: EXTRA := -fno-sanitize=all -fPIC -fvisibility=default -isystem $(CUDA)/include
$(call obj,$(chapter_c)): EXTRA := -Wno-missing-prototypes
$(call obj,grader/tests/unit/test_driver_numbers.c): EXTRA := -isystem $(CUDA)/include

# Every object depends on the flags that it was compiled with.
flags_now := $(CC) $(CFLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(flags_now)' | cmp -s - $@ || echo '$(flags_now)' >$@

# Changes when a file comes or goes, so that an exercise that was removed leaves the grader too.
$(B)/objects.list: FORCE
	@mkdir -p $(@D); echo '$(grader_o) $(base_o)' | cmp -s - $@ || echo '$(grader_o) $(base_o)' >$@
FORCE:

$(B)/grader: $(call obj,grader/cli/main.c) $(grader_o) $(base_o) $(B)/objects.list
	$(Q)$(CC) $(OPT) $(LDFLAGS) $(filter %.o,$^) -o $@ $(CHECKLIBS) $(LDLIBS)
# The book as static pages, in build/site: SITEFLAGS=--no-pictures leaves out what has to be run for it.
site_c  := $(wildcard grader/site/*.c)
SITE ?= $(B)/site
$(call obj,grader/site/markdown.c): | $(B)/site.done
$(B)/site.done: grader/setup.sh grader/packages.txt | $(B)/setup.done
	$(Q)$(SETUP) $(B) site && touch $@
$(B)/makesite: $(call obj,$(site_c)) $(grader_o) $(base_o)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $(filter %.o,$^) -o $@ $(CHECKLIBS) $(LDLIBS) $(call lib,cmark-gfm)
site: all $(B)/makesite
	$(Q)$(B)/makesite $(SITEFLAGS) $(SITE)
# The lessons' pictures, as their programs ask for them (docs/authoring.md); `verify` says when one is out of date.
pictures: all
	$(Q)mkdir -p $(B)/pictures && for f in chapters/*/lesson/*.cu; do grep -q '// picture: ' $$f || continue; \
	  $(B)/simgpu nvcc $$f -o $(B)/pictures/program && $(B)/simgpu run --pictures $${f%/*} $(B)/pictures/program || exit 1; done
# Every page parses, links to what is there, asks for nothing; with a Chromium here also: no error, no scrolling sideways, at three
# widths, light and dark, and nothing cut off on paper. `python3 grader/tests/pages/pages.py FOLDER PICTURES` takes screenshots.
drawn := 02-coalescing/transpose-1-coalesced-reads 04-bank-conflicts/reduce_addressing-1-modulo 07-fusion/softmax-1-three-kernels
check-pages: site
	$(Q)mkdir -p $(B)/pages && for f in $(drawn); do name=$${f##*/}; \
	  $(B)/grader report $${name%%-*} --file solutions/$$f.cu --output $(B)/pages/$$name.html || [ $$? = 1 ] || exit 1; done
	$(Q)python3 grader/tests/pages/pages.py $(SITE) && python3 grader/tests/pages/pages.py $(B)/pages
$(B)/simgpu: $(call obj,$(simgpu_c) $(page_c)) $(base_o)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(LDLIBS)
# Knows nothing of the book or of grading: what it does not hold can't be read out of it. Its jail shows the system's libraries and those in
# lib/carry, so what was found in a folder of someone's own goes there.
$(B)/libexec/device: $(call obj,$(device_c) grader/jail/jail_restrict_self.c) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(call lib,zstd lz4 seccomp md) -ldl -lm -pthread $(CARRIED)
	$(Q)ldd $@ | awk '$$3 ~ /^\// && $$3 !~ /^\/(usr\/)?lib/ && $$3 !~ /\/lib\/carry\// { print $$3 }' | \
	  while read -r file; do mkdir -p $(B)/lib/carry && cp -L "$$file" $(B)/lib/carry/; done
# It exports the runtime's connection, which the student's object then shares.
$(B)/libexec/hostproc: $(call obj,grader/runtime/host.c grader/runtime/client.c)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 $(LDFLAGS) -Wl,--export-dynamic-symbol='wb_*' -Wl,--exclude-libs,ALL $^ -o $@ $(call lib,ffi-static) -ldl
$(B)/lib/libwbcudart.a: $(call obj,$(runtime_c))
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^
# A driver that checks its callers, for the tests of the gpu backend; and the judge of the time model.
fake_c := $(wildcard grader/tests/fakecuda/*.c)
$(B)/tests/libfakecuda.so: $(fake_c) $(wildcard grader/tests/fakecuda/*.h) | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -Wno-missing-prototypes -fPIC -shared -fvisibility=hidden $(fake_c) -o $@
$(B)/tests/judge: $(call obj,grader/tests/timing/judge.c) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(LDLIBS)
$(B)/tests/copies: $(call obj,grader/tests/timing/check_timeline.c) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(LDLIBS)
# All that has a GPU as its subject, into OUT; works with what is built already where nothing can be installed.
OUT ?= $(B)/gpu-report
gpu-report:
	$(Q)test -x $(B)/grader || $(MAKE) --no-print-directory all
	$(Q)$(B)/grader gpu-report $(OUT) $(EXERCISES) --device gpu $(GPUFLAGS)
# What a machine may lack where nothing can be installed: the libraries of the programs, beside them, and device code.
# GPU_CC=80 compiles for an older GPU too.
gpu-carry: all
	$(Q)$(B)/grader gpu-build $(GPU_CC)
	$(Q)mkdir -p $(B)/lib/carry && ldd $(B)/grader $(B)/simgpu $(B)/libexec/device | awk '$$3 ~ /^\// { print $$3 }' | \
	  grep -vE '/lib(c|m|dl|rt|pthread)\.so|/lib/carry/' | sort -u | xargs -r -I{} cp -L {} $(B)/lib/carry/
# The table and the ablation of docs/time-model.md.
time-model: $(B)/tests/judge $(B)/tests/copies
	$(Q)$(B)/tests/judge --ablation $(B)/cuda $(B)/timing
	$(Q)$(B)/tests/copies
# How fast the simulator runs, beside plain C.
$(B)/tests/bench-ptx/%.ptx: grader/tests/bench/%.cu | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CUDA)/bin/nvcc -ptx -arch=compute_90 -lineinfo $< -o $@
$(B)/tests/bench: $(call obj,$(bench_c)) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(LDLIBS)
bench: $(B)/tests/bench $(patsubst grader/tests/bench/%.cu,$(B)/tests/bench-ptx/%.ptx,$(bench_cu))
	$(Q)$(B)/tests/bench
# How long a student waits after an edit, beside nvcc alone: 7 minutes on a machine that does nothing else.
bench-loop: all
	$(Q)python3 grader/tests/bench/loop.py $(B) $(EXERCISES)
# What the calls of the runtime cost.
bench-calls: all
	$(Q)$(B)/simgpu nvcc grader/tests/bench/calls/calls.cu -o $(B)/tests/bench-calls && $(B)/simgpu run $(B)/tests/bench-calls
$(B)/tests/unit: $(call obj,$(unit_c) $(filter-out grader/simgpu/main.c,$(simgpu_c))) $(grader_o) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(CHECKLIBS) $(LDLIBS)

# What a device process could do that was taken over, for the suite device_process.
$(B)/tests/hostile-device: $(call obj,$(taken_c)) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(call lib,zstd lz4 md) -ldl -lm -pthread $(CARRIED)
$(B)/tests/hostile: $(call obj,$(hostile_c)) $(grader_o) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(CHECKLIBS) $(LDLIBS)

# The tests' limits are there to end what hangs: not to fail where a machine is busy, nor sanitised programs, some ten times slower.
PATIENT := CK_DEFAULT_TIMEOUT=60 $(if $(SAN),CK_TIMEOUT_MULTIPLIER=10)

# ---- what people type ----
# Programs, book and guides below PREFIX, which nobody writes to afterwards (grader/install.sh); DESTDIR stages it for a package.
PREFIX ?= /usr/local
install: all
	$(Q)sh grader/install.sh $(B) '$(PREFIX)' '$(DESTDIR)'
uninstall:
	$(Q)sh grader/install.sh $(B) '$(PREFIX)' '$(DESTDIR)' uninstall
grade: all
	$(Q)$(B)/grader run || [ $$? = 1 ]
suites := $(sort $(shell sed -n 's/^UNIT_SUITE(\(.*\)) {/\1/p' $(unit_c) /dev/null))
tests  := all $(B)/makesite $(B)/tests/unit $(B)/tests/hostile $(B)/tests/hostile-device $(B)/tests/libfakecuda.so
check: check-suites check-format
	$(Q)$(PATIENT) $(B)/tests/hostile --quick
	$(Q)$(B)/grader verify --quick
# The unit suites side by side, without what is tagged `long`; a line for each, all of it where one fails.
check-suites: $(suites:%=suite-%)
$(suites:%=suite-%): suite-%: $(tests)
	$(Q)$(PATIENT) CK_EXCLUDE_TAGS=long CK_RUN_SUITE=$* $(B)/tests/unit >$(B)/tests/suite-$*.log 2>&1; status=$$?; \
	  [ $$status = 0 ] || cat $(B)/tests/suite-$*.log; sed -n 's/^1.*Checks/$*: Checks/p; /skipped/p' $(B)/tests/suite-$*.log; exit $$status
# What takes longer: whole programs, the book graded by different numbers of threads, every version, mutant and cheat of the book.
check-long: $(tests)
	$(Q)$(PATIENT) CK_INCLUDE_TAGS=long $(B)/tests/unit
	$(Q)$(B)/grader verify
# Submissions that attack the grader, under every tier of the jail; archives; a grader killed at random: some ten minutes.
check-hostile: all $(B)/tests/hostile
	$(Q)$(B)/tests/hostile
# A synthetic class: graded in peace, with the grader killed, and with writes of the store that fail (grader/tests/class).
$(B)/tests/libfaults.so: grader/tests/class/faults.c | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -fPIC -shared $< -o $@ -ldl
check-class: all $(B)/tests/libfaults.so
	$(Q)python3 grader/tests/class/class.py $(B) $(CLASSFLAGS)
# What grading each exercise takes at its peak, nothing in the cache, held to 768 MB as a small container does; LIMIT=0: as much as it likes.
check-memory: all
	$(Q)python3 grader/tests/class/memory.py $(B) $(if $(LIMIT),--limit $(LIMIT)) $(EXERCISES)
# Different versions of an exercise apart, copies together: the table of docs/similarity.md.
check-similar: all
	$(Q)python3 grader/tests/class/similar.py $(B)
# The package for Gradescope, run as it is there, in containers of 768 MB and 256 MB.
check-gradescope: all
	$(Q)python3 grader/tests/class/gradescope.py $(B)
# Shards under Slurm, on one machine with several node names.
check-slurm: all
	$(Q)python3 grader/tests/class/slurm.py $(B)
# The README's commands in fresh roots of Debian, as root and as a user, with a network and without; needs root and debootstrap.
check-roots:
	$(Q)sh grader/tests/roots/roots.sh $(B)/roots $(SUITES)
# The runtime against the headers of every CUDA release since 12.0, which are fetched from PyPI the first time.
check-headers: all
	$(Q)CC='$(CC)' sh grader/tests/roots/headers.sh $(B)
# Installed, begun, graded as another user with the tree out of sight, uninstalled: a minute, as root.
check-install: all
	$(Q)BUILD=$(B) sh grader/tests/install/check.sh
# A tar of the tree, the same bytes for the same commit; and one for students, without answers, ladders and mutants, whose scores are the
# same (grader/dist.sh): RELEASED="transpose histogram" tries it with some exercises' figures, all take some minutes.
dist:
	@mkdir -p $(B)
	$(Q)sh grader/dist.sh $(B)
student-release: all
	$(Q)sh grader/dist.sh $(B) student $(RELEASED)
# A Debian package, in build/ (grader/deb.sh).
deb: all
	$(Q)sh grader/deb.sh $(B)
# It and the steps of the containers in a fresh Debian, as another user; ROOT=folder of one that debootstrap made.
check-deb: all
	$(Q)BUILD=$(B) sh grader/tests/install/deb.sh $(ROOT)
# Both are built and graded with, beside this tree: some minutes.
check-dist: all
	$(Q)BUILD=$(B) sh grader/tests/install/dist.sh
# The approximate functions, all operands, against an H100's digests: ten minutes of two cores. Builds what renews these, too, so
# that it keeps compiling (grader/tests/mufu/README.md).
check-mufu: all $(B)/tests/unit $(B)/tests/fit_tables $(B)/tests/patch_raw
	$(Q)MUFU_ALL=1 CK_RUN_SUITE=insn_approx $(B)/tests/unit
$(B)/tests/fit_tables $(B)/tests/patch_raw: $(B)/tests/%: grader/tests/mufu/%.c $(B)/flags | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -O3 $(LDFLAGS) $< -o $@
# The simulator's counters of 961 launches, against what Nsight Compute read on an H100 (docs/counters.md).
check-counters: all
	$(Q)python3 grader/tests/gpu/truth.py && python3 grader/tests/gpu/bound.py --check
# The tree for aarch64, by a cross compiler and an emulator (docs/arm.md): unit suites, then programs on both builds, compared. After
# changes to lanes, jail, runtime, or flags of the compiler; half an hour, since most is emulated. Needs gcc-aarch64-linux-gnu g++-aarch64-linux-gnu
# qemu-user-static, and once, as root:  sh grader/tests/arm/arm.sh root build/arm64-root
ARM_ROOT ?= build/arm64-root
check-arm: all
	$(Q)test -d $(ARM_ROOT) || { echo "check-arm: first, as root:  sh grader/tests/arm/arm.sh root $(ARM_ROOT)" >&2; exit 1; }
	$(Q)$(MAKE) --no-print-directory CROSS=aarch64-linux-gnu- SYSROOT=$(abspath $(ARM_ROOT)) all build/aarch64/tests/unit build/aarch64/tests/libfakecuda.so
	$(Q)sh grader/tests/arm/arm.sh suites $(abspath $(ARM_ROOT)) && sh grader/tests/arm/arm.sh programs $(abspath $(ARM_ROOT))
# One unit suite: make test SUITE=counters.
test: all $(B)/makesite $(B)/tests/unit $(B)/tests/hostile-device $(B)/tests/libfakecuda.so
	$(Q)$(PATIENT) $(if $(SUITE),CK_RUN_SUITE=$(SUITE) )$(B)/tests/unit
# The layout of the C in the tree, by the version of clang-format that grader/packages.txt names.
formatter := $(shell sed -n 's/^check .*run:\(clang-format[^ ]*\).*/\1/p' grader/packages.txt)
formatted := $(shell git ls-files '*.c' '*.h' 2>/dev/null || find chapters common grader -name '*.[ch]')
format: $(B)/check.done
	$(Q)$(formatter) -i $(formatted)
check-format: $(B)/check.done
	$(Q)if command -v $(formatter) >/dev/null; then $(formatter) --dry-run -Werror $(formatted) || { echo "make format mends this" >&2; exit 1; }; \
	  else echo "skipped: layout of the sources, $(formatter) is not to be had here"; fi
$(B)/check.done: grader/setup.sh grader/packages.txt
	$(Q)$(SETUP) $(B) check && touch $@
# For editors: how each file is compiled (docs/contributing.md).
compile_commands.json: $(B)/setup.done FORCE
	$(Q)MAKEFLAGS= make -nB --no-print-directory Q= B=$(B) $(tests) 2>/dev/null | sh grader/editor/compile_commands.sh $(B) >$(B)/commands.json && mv $(B)/commands.json $@
# A new exercise: make new EXERCISE=10-sorting/merge_sort (docs/authoring.md).
new: $(B)/grader
	$(Q)$(B)/grader new $(EXERCISE)
# What reads bytes from outside, fuzzed with clang's libFuzzer: each target of grader/tests/fuzz/targets.def for FUZZ_S seconds, from
# the corpus in the tree. What is found stays in build/fuzz: add the interesting part to the corpus.
FUZZ_S   ?= 600
fuzzers  := $(shell sed -n 's/^FUZZ_TARGET(\(.*\))/\1/p' grader/tests/fuzz/targets.def 2>/dev/null)
FUZZMAKE := $(MAKE) --no-print-directory SAN=1 B=build/fuzz CC=clang CXX=clang++ OPT='-O1 -DFUZZING -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
fuzz: $(B)/setup.done
	$(Q)$(SETUP) $(B) fuzz
	+$(Q)mkdir -p build/fuzz && cp -r $(B)/deps build/fuzz && touch build/fuzz/setup.done && $(FUZZMAKE) $(fuzzers:%=build/fuzz/%)
	$(Q)for f in $(fuzzers); do mkdir -p build/fuzz/found/$$f && echo "fuzz: $$f, $(FUZZ_S) s" && timeout -k 5 $$(($(FUZZ_S) + 300)) build/fuzz/$$f -max_total_time=$(FUZZ_S) -timeout=20 \
	  -max_len=16384 -entropic=0 -print_final_stats=1 -artifact_prefix=build/fuzz/$$f- build/fuzz/found/$$f grader/tests/fuzz/corpus/$$f 2>build/fuzz/$$f.log || \
	  { tail -n 60 build/fuzz/$$f.log; exit 1; }; tail -n 12 build/fuzz/$$f.log; done
.SECONDEXPANSION:
$(fuzzers:%=$(B)/%): $(B)/%: $(B)/obj/grader/tests/fuzz/fuzz_%.o $(B)/obj/grader/tests/fuzz/mutate.o $(B)/obj/grader/tests/unit/fake_device.o $$(if $$(filter control,$$*),$(grader_o)) $(base_o)
	$(Q)$(CXX) $(OPT) -fsanitize=fuzzer $^ -o $@ $(CHECKLIBS) $(LDLIBS)
clean:
	rm -rf build

.PHONY: all bench bench-calls bench-loop check check-arm check-class check-deb check-dist check-gradescope check-headers check-install check-memory check-similar check-slurm check-counters check-format check-hostile check-long check-mufu check-pages check-roots check-suites $(suites:%=suite-%) clean deb dist format fuzz gpu-carry gpu-report grade install new pictures setup site student-release test time-model uninstall
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
