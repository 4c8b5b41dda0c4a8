# Makefile — builds, installs and tests Warpbook. Changing a header rebuilds every file that
# includes it. You can add or delete source files without editing this file.
#
#   make                build build/grader, build/simgpu and what they need; sets up first
#   make grade          build, then grade what you edited in chapters/; first an example
#   make check          run the tests; check-long: whole programs and the whole book;
#                       check-hostile: attacks; check-mufu: approximate functions, all operands
#   make test SUITE=x   run one suite of unit tests
#   make bench          measure the simulator's speed; bench-calls: the runtime's calls
#   make cublas         build cuBLAS for `build/simgpu nvcc`, half a minute; also cusparse, cufft, curand
#   make fuzz           fuzz the parsers of foreign bytes with libFuzzer
#   make pictures       draw the lessons' pictures
#   make site           write lessons, tasks, ladders and guides as pages into build/site
#   make book           write the book as one PDF and one EPUB into build/book
#   make slides         render the slides of docs/course into build/slides
#   make install        install below PREFIX
#   make format         format the sources (docs/contributing.md)
#
# Variables: SAN=1 builds with ASan and UBSan into build/san; LEVELS=all builds for all processors;
# V=1 shows the commands.

MAKEFLAGS += -j$(shell nproc)
# CROSS=aarch64-linux-gnu- SYSROOT=/path builds for another processor, into build/aarch64
# (docs/arm.md).
CC     := $(CROSS)gcc$(SYSROOT:%= --sysroot=%)
LD     := $(CROSS)ld
OBJCOPY := $(CROSS)objcopy
CXX    := $(CROSS)g++$(SYSROOT:%= --sysroot=%)
ARCH   := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || uname -m)))
B      := $(if $(CROSS),build/$(ARCH)$(SAN:%=-san),$(if $(SAN),build/san,build))
comma  := ,
OPT    := $(if $(SAN),-O1 -fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer,-O2)
# Hidden visibility keeps our names from replacing a library's in the same process, such as bind(),
# which the NVIDIA driver calls.
HARDEN := -fPIE -fstack-protector-strong $(if $(SAN),,-D_FORTIFY_SOURCE=2)
# Results must not depend on the processor: char is signed, and a product and a sum round twice.
SAME   := -fsigned-char -ffp-contract=off
# Warnings are errors only with compilers known to give none; a newer one may have new warnings. GCC
# before 12 also takes a member that a designated initializer leaves out for a mistake.
CC_MAJOR := $(shell $(CC) -dumpversion 2>/dev/null | cut -d. -f1)
WERROR := $(if $(SAN)$(filter-out 12 14 16,$(CC_MAJOR)),,-Werror)$(if $(filter 9 10 11,$(CC_MAJOR)),-Wno-missing-field-initializers)
# Lines and functions suffice for a stack trace. Variables take a tenth to a sixth of the compiler's time.
DEBUG  := $(if $(SAN),-g,-g1)
CFLAGS := -std=gnu11 $(DEBUG) $(OPT) -I. -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
          -Wno-psabi $(SAME) -fno-math-errno -pthread -D_GNU_SOURCE -fvisibility=hidden $(HARDEN)
LDFLAGS := -pie -Wl,-z,relro,-z,now
# setup.sh stores the options for headers and libraries in files, which the compiler reads.
HEADERS = @$(B)/deps/headers
lib     = $(1:%=@$(B)/deps/%)
LDLIBS  = $(call lib,jansson archive sqlite3 yaml ffi zstd lz4 seccomp md) -ldl -lm -pthread $(CARRIED)
# Programs, and the libraries themselves, find the libraries that `make gpu-carry` puts beside them.
CARRIED := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib/carry:$$ORIGIN/../lib/carry'
CHECKLIBS = $(call lib,check microhttpd) -lrt -lstdc++
Q      := $(if $(V),,@)
CUDA   := $(B)/cuda
# CUDA is a link to the toolkit, which grader/setup.sh makes.

all: $(B)/grader $(B)/simgpu $(B)/libexec/hostproc $(B)/libexec/device $(B)/libexec/trim_headers $(B)/lib/libwbcudart.a $(B)/lib/libsimgpu.a

# ---- setup: libraries, packages and compiler; runs again when its inputs change ----
SETUP := CC='$(CC)' CXX='$(CXX)' sh grader/setup.sh
ifdef CROSS
# The libraries of the other processor are in SYSROOT. The toolkit is this machine's; its nvcc
# compiles for both.
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

# ---- sources: every .c file in these folders ----
common_c  := $(wildcard common/*.c)
exec_c   := $(wildcard grader/sim/*/exec_*.c)
sim_c     := $(filter-out $(exec_c),$(wildcard grader/sim/*.c grader/sim/*/*.c))
server_c  := $(wildcard grader/server/*.c)
runtime_c := $(filter-out grader/runtime/host.c grader/runtime/host_position.c,$(wildcard grader/runtime/*.c))
hostproc_c := $(addprefix grader/runtime/,host.c host_position.c client.c source_line.c line_table.c)
layers     := jail book grade report class serve cli
page_c    := $(wildcard grader/page/*.c)
grader_c  := $(filter-out grader/cli/main.c,$(foreach layer,$(layers),$(wildcard grader/$(layer)/*.c)))
simgpu_c  := $(wildcard grader/simgpu/*.c)
library_c := $(wildcard grader/libsimgpu/*.c)
device_c  := $(wildcard grader/device/*.c)
chapter_c := $(wildcard chapters/*/*_test.c)
unit_c    := $(wildcard grader/tests/unit/*.c grader/tests/fuzz/*.c)
hostile_c := $(wildcard grader/tests/hostile/*.c)
taken_c   := $(wildcard grader/tests/hostile/device/*.c)
bench_c   := $(wildcard grader/tests/bench/*.c)
bench_cu  := $(wildcard grader/tests/bench/*.cu)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
# Levels of vector instructions come from one list for all processors. Building a level takes most
# of a minute. The default is two: the first, which every machine has, and the last that this one
# has.
levels = sed -n 's/^LEVEL_$(ARCH)(\([a-z0-9]*\), .*, \([A-Za-z0-9]*\), \(-.*\))$$/$(1)/p' grader/sim/code/isa_levels.def
LEVELS ?= $(if $(CROSS)$(filter deb check-deb gpu-carry,$(MAKECMDGOALS)),all,own)
every  := $(shell $(call levels,\1))
here   := $(shell $(call levels,\1 \2) | while read -r level flag; do grep -qw $$flag /proc/cpuinfo && echo $$level; done)
ISAS   := $(if $(filter all,$(LEVELS)),$(every),$(sort $(firstword $(every)) $(lastword $(here))))
$(if $(ISAS),,$(error $(CC) compiles for $(ARCH); Warpbook supports only x86-64 and aarch64, see grader/sim/code/isa_levels.def))
exec_o := $(foreach isa,$(ISAS),$(patsubst %.c,$(B)/obj/%.$(isa).o,$(exec_c)))
base_o  := $(call obj,$(common_c) $(sim_c) $(server_c)) $(exec_o)
grader_cpp := $(wildcard grader/class/*.cpp)
grader_o := $(call obj,$(grader_c) $(page_c) $(chapter_c)) $(patsubst %.cpp,$(B)/obj/%.o,$(grader_cpp))

$(B)/obj/%.o: %.c $(B)/flags | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) $(HEADERS) -MMD -MP -c $< -o $@

# Set-up may find libpq's header later.
$(call obj,grader/class/db_postgresql.c): $(B)/setup.done

# One C++ file wraps toml++ in a C header (docs/architecture.md).
$(B)/obj/%.o: %.cpp $(B)/flags | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(DEBUG) $(OPT) $(SAME) -I. -Wall -Wextra $(WERROR) -fno-exceptions -fno-rtti -fvisibility=hidden $(HARDEN) $(HEADERS) -MMD -MP -c $< -o $@

# The exec functions are built once for each level of vector instructions; the program selects a
# level when it starts.
define exec_rule
$(B)/obj/%.$(1).o: %.c $(B)/flags | $(B)/setup.done
	@mkdir -p $$(@D)
	$(Q)$(CC) $(CFLAGS) $(if $(SAN),,-O3) -fno-trapping-math $(2) -DISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call exec_rule,$(isa),$(shell $(call levels,\1 \3) | sed -n 's/^$(isa) //p'))))

# The text that precedes generated code (grader/sim/native): headers and rows, preprocessed.
$(B)/native_prelude.i: grader/sim/native/prelude.h $(B)/flags | $(B)/setup.done
	$(Q)$(CC) -std=gnu11 -I. -D_GNU_SOURCE -fsigned-char -E -P -MMD -MP -MT $@ -x c $< -o $@
$(call obj,grader/sim/native/prelude.c): $(B)/native_prelude.i
$(call obj,grader/sim/native/prelude.c): EXTRA := -DNATIVE_PRELUDE='"$(B)/native_prelude.i"'

# The runtime is never sanitized: students' objects link with it, and the sandbox's limits leave no
# memory for ASan's shadow. It has no line table, so that every line in an object is the student's.
$(B)/obj/grader/runtime/%.o: EXTRA := -g0 -fno-sanitize=all -fPIC -fvisibility=default -isystem $(CUDA)/include
# Digests of code without comments, for grader/grade/baseline_data.h. Their inputs determine what a
# version of the book gives: not the race detector, which only reports, nor native code, which
# grading never runs. `grader verify` finds what this list misses.
# No line is a directive after tr: gcc would have to understand it, which it can't in joined files.
# clang (`make fuzz`) lacks the option.
code_digest = code=$$(tr '\#' @ <$(1) | $(patsubst clang,gcc,$(CC)) -w -fpreprocessed -E -P -x c -) && [ "$$code" ] && \
  printf %s "$$code" | tr -d '[:space:]' | sha256sum | cut -c1-16
code-digest:
	@$(call code_digest,$(SOURCE))
simulator_text := $(sort $(filter-out grader/sim/race/% grader/sim/native/% grader/sim/core/livelock%,$(foreach end,c h def,$(wildcard grader/sim/*.$(end) grader/sim/*/*.$(end) grader/server/*.$(end) \
  grader/grade/metrics.$(end) grader/book/problem.$(end) common/exercise*.$(end) common/half.$(end)))))
$(B)/simulator.digest: $(simulator_text) $(B)/objects.list
	$(Q)cat $(simulator_text) >$@.all && $(call code_digest,$@.all) >$@ && rm $@.all
$(call obj,grader/grade/baseline_data.c): $(B)/simulator.digest
$(call obj,grader/grade/baseline_data.c): EXTRA = -DSIMULATOR_DIGEST='"$(shell cat $(B)/simulator.digest)"'
$(call obj,$(chapter_c)): EXTRA = $(if $(SAN),,-O3) -Wno-missing-prototypes -DTEST_DIGEST='"$(shell $(call code_digest,$<))"'
$(call obj,grader/tests/unit/test_driver_numbers.c): EXTRA := -isystem $(CUDA)/include

# Every object depends on the flags that it was compiled with.
flags_now := $(CC) $(CFLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(flags_now)' | cmp -s - $@ || echo '$(flags_now)' >$@

# This list changes when you add or delete a source file, so that the grader is linked again.
$(B)/objects.list: FORCE
	@mkdir -p $(@D); echo '$(grader_o) $(base_o)' | cmp -s - $@ || echo '$(grader_o) $(base_o)' >$@
FORCE:

$(B)/grader: $(call obj,grader/cli/main.c) $(grader_o) $(base_o) $(B)/objects.list
	$(Q)$(CC) $(OPT) $(LDFLAGS) $(filter %.o,$^) -o $@ $(CHECKLIBS) $(LDLIBS)
# The book as static pages, in build/site. SITEFLAGS=--no-pictures leaves out the pictures of
# ladders, for which makesite runs every version.
site_c  := $(wildcard grader/site/*.c)
SITE ?= $(B)/site
$(call obj,grader/site/markdown.c): | $(B)/site.done
$(B)/site.done: grader/setup.sh grader/packages.txt | $(B)/setup.done
	$(Q)$(SETUP) $(B) site && touch $@
$(B)/makesite: $(call obj,$(site_c)) $(grader_o) $(base_o)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $(filter %.o,$^) -o $@ $(CHECKLIBS) $(LDLIBS) $(call lib,cmark-gfm)
site: all $(B)/makesite
	$(Q)$(B)/makesite $(SITEFLAGS) $(SITE)
# The book as one PDF and one EPUB, in build/book. It needs pandoc and weasyprint, which nothing else
# needs; it installs them if it can. check-book looks for cut lines, missing figures and headings.
$(B)/book.done: grader/setup.sh grader/packages.txt
	$(Q)mkdir -p $(@D) && $(SETUP) $(B) book && touch $@
book: $(B)/book.done
	$(Q)set -- $$(sh grader/version.sh) && SOURCE_DATE_EPOCH=$$2 python3 grader/site/print/book.py $(B)/book $$(date -u -d @$$2 +%F)
# The decks of docs/course/slides as pages, in build/slides; pandoc is all that it needs.
slides: $(B)/book.done
	$(Q)python3 grader/site/print/slides.py $(B)/slides
check-book: book slides
	$(Q)python3 grader/tests/pages/book.py $(B)/book
	$(Q)python3 grader/tests/pages/slides.py $(B)/slides
# Draws the lessons' pictures, which their programs request in comments (docs/authoring.md). `grader
# verify` reports outdated ones.
pictures: all
	$(Q)mkdir -p $(B)/pictures && for f in chapters/*/lesson/*.cu; do grep -q '// picture: ' $$f || continue; \
	  $(B)/simgpu nvcc $$f -o $(B)/pictures/program && $(B)/simgpu run --pictures $${f%/*} $(B)/pictures/program || exit 1; done
# Checks that every page parses, has no dead link and loads no other file. With Chromium also: no
# error, no horizontal scrolling at three widths, light and dark, and nothing cut off in print.
# `python3 grader/tests/pages/pages.py FOLDER PICTURES` takes screenshots. Then it uses `grader serve`
# in the browser: edits, saves, conflicts, reloads, restores. Set-up installs Chromium, nginx and
# axe-core if it can.
drawn := 02-coalescing/transpose-1-coalesced-reads 04-bank-conflicts/reduce_addressing-1-modulo 07-fusion/softmax-1-three-kernels
check-editors: all
	$(Q)python3 grader/tests/editors/editors.py $(B)/grader
$(B)/pages.done: grader/setup.sh grader/packages.txt
	$(Q)mkdir -p $(@D) && $(SETUP) $(B) pages && touch $@
check-pages: site $(B)/pages.done
	$(Q)mkdir -p $(B)/pages && for f in $(drawn); do name=$${f##*/}; \
	  $(B)/grader report $${name%%-*} --file solutions/$$f.cu --output $(B)/pages/$$name.html || [ $$? = 1 ] || exit 1; done
	$(Q)python3 grader/tests/pages/pages.py $(SITE) && python3 grader/tests/pages/pages.py $(B)/pages
	$(Q)python3 grader/tests/pages/workbench.py $(B)/grader
	$(Q)python3 grader/tests/pages/class_page.py $(B)/grader
	$(Q)python3 grader/tests/pages/two_assistants.py $(B)/grader
	$(Q)python3 grader/tests/pages/attack.py $(B)/grader
$(B)/simgpu: $(call obj,$(simgpu_c) $(page_c) $(wildcard grader/jail/*.c)) $(base_o)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(LDLIBS)
# The simulator as a library for other programs: one object, in which only simgpu_* is global. It is
# static, since a shared one would need all code compiled as position-independent for libraries.
$(B)/lib/libsimgpu.a: $(call obj,$(library_c)) $(base_o)
	@mkdir -p $(@D)
	$(Q)rm -f $@ $@.parts && ar rcs $@.parts $(base_o) && $(LD) -r -o $@.o $(call obj,$(library_c)) $(exec_o) $@.parts
	$(Q)$(OBJCOPY) -w --keep-global-symbol='simgpu_*' $@.o && ar rcs $@ $@.o && rm $@.o $@.parts
# The device process has no code or data of the book or of grading, so a submission can't read any
# from it. Its sandbox contains the system's libraries and lib/carry, so libraries from other
# folders are copied there.
$(B)/libexec/device: $(call obj,$(device_c) grader/jail/jail_restrict_self.c) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(call lib,zstd lz4 seccomp md) -ldl -lm -pthread $(CARRIED)
	$(Q)ldd $@ | awk '$$3 ~ /^\// && $$3 !~ /^\/(usr\/)?lib/ && $$3 !~ /\/lib\/carry\// { print $$3 }' | \
	  while read -r file; do mkdir -p $(B)/lib/carry && cp -L "$$file" $(B)/lib/carry/; done
# The host process exports the runtime's connection, which the student's object shares.
$(B)/libexec/hostproc: $(call obj,$(hostproc_c))
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 $(LDFLAGS) -Wl,--export-dynamic-symbol='wb_*' -Wl,--exclude-libs,ALL $^ -o $@ $(call lib,ffi-static) -ldl
# It runs for each file that is compiled, so it starts fast: only the C library, and -O3.
trim_o := $(call obj,$(wildcard grader/trim/*.c))
$(trim_o): EXTRA := -O3
$(B)/libexec/trim_headers: $(trim_o) $(call obj,common/buf.c common/err.c common/file.c common/grow.c)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@
$(B)/lib/libwbcudart.a: $(call obj,$(runtime_c))
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^
# Our vendor libraries have kernels, so nvcc compiles them: PTX for the oldest architecture of its
# toolkit. A toolkit without their header can't compile programs that call them, so the objects
# stay empty.
vendor_libraries := cublas cusparse cufft curand
define VENDOR_LIBRARY
$(B)/obj/grader/$(1)/%.o: grader/$(1)/%.cu $(B)/flags | $(B)/setup.done
	@mkdir -p $$(@D)
	$$(Q)if [ -f $(CUDA)/include/$(2) ]; then \
	  $(CUDA)/bin/nvcc -std=c++17 -O2 -I. $(CROSS:%=-ccbin $(CXX)) -Xcompiler -fPIC -gencode arch=compute_75,code=compute_75 -MMD -MP -c $$< -o $$@; \
	else $(CC) -x c -c /dev/null -o $$@; fi
$(1): $(B)/lib/libwb$(1).a
$(B)/lib/libwb$(1).a: $(patsubst %.cu,$(B)/obj/%.o,$(wildcard grader/$(1)/*.cu)) $(call obj,$(wildcard grader/$(1)/*.c))
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(eval $(call VENDOR_LIBRARY,cublas,cublas_v2.h))
$(eval $(call VENDOR_LIBRARY,cusparse,cusparse.h))
$(eval $(call VENDOR_LIBRARY,cufft,cufftXt.h))
$(eval $(call VENDOR_LIBRARY,curand,curand_kernel.h))
# A fake driver that checks its callers, for the tests of the gpu backend; then programs that
# compare the time model with measurements.
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
# Checks and times every version on a GPU and writes the report into OUT. It uses an existing build,
# for machines on which nothing can be installed.
OUT ?= $(B)/gpu-report
gpu-report:
	$(Q)test -x $(B)/grader || $(MAKE) --no-print-directory all
	$(Q)$(B)/grader gpu-report $(OUT) $(EXERCISES) --device gpu $(GPUFLAGS)
# Prepares build/ for such a machine: compiles device code and puts the programs' libraries beside
# them. GPU_CC=80 also compiles for an older GPU.
gpu-carry: all
	$(Q)$(B)/grader gpu-build $(GPU_CC)
	$(Q)mkdir -p $(B)/lib/carry && ldd $(B)/grader $(B)/simgpu $(B)/libexec/device | awk '$$3 ~ /^\// { print $$3 }' | \
	  grep -vE '/lib(c|m|dl|rt|pthread)\.so|/lib/carry/' | sort -u | xargs -r -I{} cp -L {} $(B)/lib/carry/
# Renews model.md and bound-by.md of both GPUs, and holdout.md, from today's model.
model-pages: $(B)/grader
	$(Q)python3 grader/tests/timing/renew.py
# Prints the table and the ablation of docs/time-model.md.
time-model: $(B)/tests/judge $(B)/tests/copies
	$(Q)$(B)/tests/judge --ablation $(B)/cuda $(B)/timing
	$(Q)$(B)/tests/copies
# Measures the simulator's speed in comparison with plain C.
$(B)/tests/bench-ptx/%.ptx: grader/tests/bench/%.cu | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CUDA)/bin/nvcc -ptx -arch=compute_90 -lineinfo $< -o $@
$(B)/tests/bench: $(call obj,$(bench_c)) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(LDLIBS)
bench: $(B)/tests/bench $(patsubst grader/tests/bench/%.cu,$(B)/tests/bench-ptx/%.ptx,$(bench_cu))
	$(Q)$(B)/tests/bench
# Renews what the grader records of model solutions and baselines, so that a first grading need not
# run them (grader/grade/baseline_data.h). `grader verify` says when. It takes some minutes.
baselines: all
	$(Q)$(B)/grader figures --device sim --output chapters/figures.txt
# Measures how long a student waits after an edit, in comparison with nvcc alone. It takes 7 minutes
# on an idle machine.
bench-loop: all
	$(Q)python3 grader/tests/bench/loop.py $(B) $(EXERCISES)
# Measures how long each model solution takes that was graded before.
bench-again: all
	$(Q)python3 grader/tests/bench/again.py $(B)
# Compares native code with the interpreter on all programs, versions and mutants. It takes hours;
# NATIVEFLAGS="programs", "versions" or "mutants" takes one kind.
check-native: all
	$(Q)python3 grader/tests/native/compare.py $(B) $(NATIVEFLAGS)
# Measures the cost of the runtime's calls.
bench-calls: all
	$(Q)$(B)/simgpu nvcc grader/tests/bench/calls/calls.cu -o $(B)/tests/bench-calls && $(B)/simgpu run $(B)/tests/bench-calls
$(B)/tests/unit: $(call obj,$(unit_c) $(library_c) $(filter-out grader/simgpu/main.c,$(simgpu_c)) grader/runtime/line_table.c) $(filter-out %/main.o,$(trim_o)) $(grader_o) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(CHECKLIBS) $(LDLIBS)

# A hostile device process, for the suite device_process.
$(B)/tests/hostile-device: $(call obj,$(taken_c)) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(call lib,zstd lz4 md) -ldl -lm -pthread $(CARRIED)
$(B)/tests/hostile: $(call obj,$(hostile_c)) $(grader_o) $(base_o)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) $^ -o $@ $(CHECKLIBS) $(LDLIBS)

# Timeouts of tests end hangs. They are long enough for a busy machine, and for sanitized programs,
# which are about ten times slower.
PATIENT := CK_DEFAULT_TIMEOUT=60 $(if $(SAN),CK_TIMEOUT_MULTIPLIER=10)

# ---- targets for users ----
# Installs programs, book and guides below PREFIX (grader/install.sh). DESTDIR stages them for a
# package.
PREFIX ?= /usr/local
install: all $(vendor_libraries)
	$(Q)sh grader/install.sh $(B) '$(PREFIX)' '$(DESTDIR)'
uninstall:
	$(Q)sh grader/install.sh $(B) '$(PREFIX)' '$(DESTDIR)' uninstall
grade: all
	$(Q)$(B)/grader run || [ $$? = 1 ]
suites := $(sort $(shell sed -n 's/^UNIT_SUITE(\(.*\)) {/\1/p' $(unit_c) /dev/null))
tests  := all $(vendor_libraries) $(B)/makesite $(B)/tests/unit $(B)/tests/hostile $(B)/tests/hostile-device $(B)/tests/libfakecuda.so
# The attacks come last: they look for what a grader leaves behind, and other tests kill graders.
check: check-suites check-exercises check-format
	$(Q)$(PATIENT) $(B)/tests/hostile --quick
check-exercises: all
	$(Q)$(B)/grader verify --quick
# Runs the unit suites without tests tagged `long`, two for each core, since many wait. It prints a
# line for each suite, and the whole log if one fails.
define run_suite
  log=$(B)/tests/suite-$$1.log
  CK_RUN_SUITE=$$1 $(B)/tests/unit >$$log 2>&1; status=$$?
  [ $$status = 0 ] || cat $$log
  sed -n "s/^1.*Checks/$$1: Checks/p; /skipped/p" $$log
  exit $$status
endef
export run_suite
check-suites: $(tests)
	$(Q)printf '%s\n' $(suites) | $(PATIENT) CK_EXCLUDE_TAGS=long xargs -P $$((2 * $(shell nproc))) -I{} sh -c "$$run_suite" suite {}
# Runs the longer tests: whole programs, the book graded with different numbers of threads, every
# version, mutant and exploit of the book.
check-long: $(tests)
	$(Q)$(PATIENT) CK_INCLUDE_TAGS=long $(B)/tests/unit
	$(Q)$(B)/grader verify
# Runs submissions that attack the grader, under every tier of the sandbox; hostile archives; a
# grader that is killed at random times. It takes about ten minutes.
check-hostile: all $(B)/tests/hostile
	$(Q)$(B)/tests/hostile
# Grades a synthetic class: undisturbed, with the grader killed, and with failing writes of the
# store (grader/tests/class).
$(B)/tests/libfaults.so: grader/tests/class/faults.c | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -fPIC -shared $< -o $@ -ldl
check-class: all $(B)/tests/libfaults.so
	$(Q)python3 grader/tests/class/class.py $(B) $(CLASSFLAGS)
# Grades 301 students who hand in by three ways at once, and checks every student's fate;
# MIXEDFLAGS=--list prints it.
check-mixed: all
	$(Q)python3 grader/tests/class/mixed.py $(B) $(MIXEDFLAGS)
# Lets several graders work on one store in PostgreSQL, and kills some of them.
check-workers: all
	$(Q)python3 grader/tests/class/workers.py $(B) $(WORKERSFLAGS)
# Measures intakes and unchanged runs of 2000 students with five exercises; LARGEFLAGS="--kills 50 --full-disk".
check-large: all
	$(Q)python3 grader/tests/class/large.py $(B) $(LARGEFLAGS)
# Measures the peak memory of grading each exercise, with an empty cache and a limit of 768 MB, as
# in a small container. LIMIT=0: no limit.
check-memory: all
	$(Q)python3 grader/tests/class/memory.py $(B) $(if $(LIMIT),--limit $(LIMIT)) $(EXERCISES)
# Checks that `grader similar` puts planted copies first, separates different versions of an
# exercise and finds copies: the table of docs/similarity.md.
check-similar: all
	$(Q)python3 grader/tests/class/planted.py $(B)
	$(Q)python3 grader/tests/class/similar.py $(B)
# Runs the Gradescope package as Gradescope does, in containers of 768 MB and 256 MB.
check-gradescope: all
	$(Q)python3 grader/tests/class/gradescope.py $(B)
# Grades shards under Slurm, on one machine with several node names.
check-slurm: all
	$(Q)python3 grader/tests/class/slurm.py $(B)
# Runs the README's commands in fresh roots of Debian and Ubuntu, as root and as a user, with and
# without a network. It needs root and debootstrap.
check-roots:
	$(Q)sh grader/tests/roots/roots.sh $(B)/roots $(SUITES)
# Compiles the runtime with the headers of every CUDA release since 12.0; fetches them from PyPI
# once.
check-headers: all
	$(Q)CC='$(CC)' sh grader/tests/roots/headers.sh $(B)
# Installs, grades as another user who can't see the tree, and uninstalls. It takes a minute, as
# root.
check-install: all
	$(Q)BUILD=$(B) sh grader/tests/install/check.sh
# A tar of the tree, with the same bytes for the same commit; and one for students, with the same
# scores but without model solutions, ladders and mutants (grader/dist.sh). It takes some minutes;
# RELEASED="transpose histogram" tries it with the baseline data of two exercises.
dist:
	@mkdir -p $(B)
	$(Q)sh grader/dist.sh $(B)
student-release: all
	$(Q)sh grader/dist.sh $(B) student $(RELEASED)
# Makes a Debian package in build/ (grader/deb.sh).
deb: all $(vendor_libraries)
	$(Q)sh grader/deb.sh $(B)
# Tests the package and the containers' steps in a fresh Debian, as another user. ROOT names a
# folder that debootstrap made.
check-deb: all
	$(Q)BUILD=$(B) sh grader/tests/install/deb.sh $(ROOT)
# Builds both tars outside of this tree and grades with them. It takes some minutes.
check-dist: all
	$(Q)BUILD=$(B) sh grader/tests/install/dist.sh
# Compares the approximate functions for all operands with an H100's digests: ten minutes on two
# cores. It also builds the tools that renew the digests, to keep them compiling
# (grader/tests/mufu/README.md).
check-mufu: all $(B)/tests/unit $(B)/tests/fit_tables $(B)/tests/patch_raw
	$(Q)MUFU_ALL=1 CK_RUN_SUITE=insn_approx $(B)/tests/unit
$(B)/tests/fit_tables $(B)/tests/patch_raw: $(B)/tests/%: grader/tests/mufu/%.c $(B)/flags | $(B)/setup.done
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -O3 $(LDFLAGS) $< -o $@
# Compares the simulator's counters with Nsight Compute's on an H100 (docs/counters.md).
check-counters: all
	$(Q)python3 grader/tests/gpu/truth.py && python3 grader/tests/gpu/bound.py --check
# Builds for aarch64 with a cross compiler, runs the unit suites in an emulator, and compares
# programs on both builds (docs/arm.md). Run it after changes to the exec functions, the sandbox,
# the runtime or the compiler's flags. It takes half an hour. It needs gcc-aarch64-linux-gnu,
# g++-aarch64-linux-gnu and qemu-user-static, and once, as root:  sh grader/tests/arm/arm.sh root
# build/arm64-root
ARM_ROOT ?= build/arm64-root
check-arm: all
	$(Q)test -d $(ARM_ROOT) || { echo "check-arm: first run, as root:  sh grader/tests/arm/arm.sh root $(ARM_ROOT)" >&2; exit 1; }
	$(Q)$(MAKE) --no-print-directory CROSS=aarch64-linux-gnu- SYSROOT=$(abspath $(ARM_ROOT)) all build/aarch64/tests/unit build/aarch64/tests/libfakecuda.so
	$(Q)sh grader/tests/arm/arm.sh suites $(abspath $(ARM_ROOT)) && sh grader/tests/arm/arm.sh programs $(abspath $(ARM_ROOT))
# Runs one unit suite: make test SUITE=counters.
test: all $(B)/makesite $(B)/tests/unit $(B)/tests/hostile-device $(B)/tests/libfakecuda.so
	$(Q)$(PATIENT) $(if $(SUITE),CK_RUN_SUITE=$(SUITE) )$(B)/tests/unit
# Formats the C sources with the version of clang-format that grader/packages.txt names.
formatter := $(shell sed -n 's/^check .*run:\(clang-format[^ ]*\).*/\1/p' grader/packages.txt)
formatted := $(shell git ls-files '*.c' '*.h' 2>/dev/null || find chapters common grader -name '*.[ch]')
format: $(B)/check.done
	$(Q)$(formatter) -i $(formatted)
# Checks the files that changed since the last check, or all after a change of the layout's rules.
check-format: $(B)/format.done
$(B)/format.done: .clang-format grader/packages.txt $(wildcard $(formatted)) | $(B)/check.done
	$(Q)if command -v $(formatter) >/dev/null; then \
	  $(formatter) --dry-run -Werror $(if $(filter-out %.c %.h,$?),$(wildcard $(formatted)),$?) || { echo "check-format: to fix the layout, run: make format" >&2; exit 1; }; touch $@; \
	  else echo "skipped: layout of the sources, because $(formatter) is not installed"; fi
$(B)/check.done: grader/setup.sh grader/packages.txt
	$(Q)$(SETUP) $(B) check && touch $@
# Writes the compile commands for editors (docs/contributing.md).
compile_commands.json: $(B)/setup.done FORCE
	$(Q)MAKEFLAGS= make -nB --no-print-directory Q= B=$(B) $(tests) 2>/dev/null | sh grader/editor/compile_commands.sh $(B) >$(B)/commands.json && mv $(B)/commands.json $@
# Creates a new exercise: make new EXERCISE=10-sorting/merge_sort (docs/authoring.md).
new: $(B)/grader
	$(Q)$(B)/grader new $(EXERCISE)
# Fuzzes the code that reads foreign bytes with clang's libFuzzer: each target of
# grader/tests/fuzz/targets.def for FUZZ_S seconds, from the corpus in the tree. Inputs that it
# finds are in build/fuzz; add the interesting ones to the corpus.
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

.PHONY: all code-digest $(vendor_libraries) baselines bench bench-again bench-calls bench-loop book check check-arm check-book check-class check-deb check-dist check-editors check-exercises check-gradescope check-headers check-install check-large check-memory check-mixed check-native check-similar check-slurm check-workers check-counters check-format check-hostile check-long check-mufu check-pages check-roots check-suites clean deb dist format fuzz gpu-carry gpu-report grade install model-pages new pictures setup site slides student-release test time-model uninstall
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null) $(B)/native_prelude.d
