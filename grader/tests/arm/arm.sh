#!/bin/sh
# arm.sh — tests the tree for aarch64 on an x86-64 machine, with a cross compiler and qemu-user (docs/arm.md).
#   arm.sh root FOLDER         installs a Debian for arm64 with Warpbook's needs in FOLDER; requires debootstrap and root
#   arm.sh toolkit FROM TO     a CUDA toolkit of this machine, laid out so that its nvcc also compiles for aarch64
#   arm.sh suites FOLDER       the unit suites of build/aarch64, with FOLDER's libraries; those that an emulator can run
#   arm.sh programs FOLDER     every program of grader/tests/programs and torture on both builds: output, reports, counters are equal
#   arm.sh register FOLDER     as root: lets programs for aarch64 run directly, with FOLDER's libraries, until the next boot
#   arm.sh book                grades the model solutions on both builds, without a sandbox: equal seeds, equal reports. Requires `register`
# SUITES="insn counters", EXERCISES="transpose softmax" and PROGRAMS="atomics clock" select some.
set -eu
tests=$(dirname "$0")
release=bookworm

fail() { echo "arm.sh: $*" >&2; exit 1; }

# The emulator: qemu-aarch64 of qemu 8 or newer, otherwise Debian 12's, which suffices for `suites` and `programs`.
emulator() {
    for q in "${QEMU:-}" qemu-aarch64 qemu-aarch64-static; do
        [ -z "$q" ] || ! command -v "$q" >/dev/null || { command -v "$q"; return; }
    done
    fail "no qemu-aarch64:  apt-get install qemu-user-static"
}

root() {
    command -v debootstrap >/dev/null || fail "no debootstrap:  apt-get install debootstrap"
    packages=$(sh "$tests"/../../setup.sh names apt build | tr '\n' ',')
    debootstrap --arch=arm64 --variant=minbase --foreign --include="${packages%,}" "$release" "$1.packages"
    mkdir -p "$1"
    for package in "$1.packages"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$1"; done
    rm -rf "$1.packages"
}

# The emulator searches libraries below a folder that was fixed when it was built and that its help prints. Make that a link to FOLDER.
register() {
    qemu=$(emulator) rules=/proc/sys/fs/binfmt_misc
    # Older emulators allocate tables for reserved address space. This counts as the device process's memory, so cases end with MLE.
    [ "$("$qemu" --version | sed -n 's/^qemu-aarch64 version \([0-9]*\).*/\1/p')" -ge 8 ] || fail "$qemu is older than 8; QEMU=… names another"
    [ -e $rules/register ] || mount -t binfmt_misc none $rules || fail "this kernel has no binfmt_misc, or you are not root"
    [ ! -e $rules/qemu-aarch64 ] || echo -1 >$rules/qemu-aarch64
    same='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf '%s' ":qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:$same:$qemu:F" >$rules/register
    prefix=$(env -u QEMU_LD_PREFIX "$qemu" --help | sed -n 's/^QEMU_LD_PREFIX *= *//p')
    mkdir -p "$(dirname "$prefix")"
    ln -sfn "$(cd "$1" && pwd)" "$prefix"
    echo "programs for aarch64 run by $qemu, with the libraries of $1"
}

# nvcc searches its own folder, after resolving links, so copy it. For aarch64 it requires a separate folder of headers.
# A script calls it, because the grader passes it no environment.
toolkit() {
    from=$(cd "$1" && pwd -P)
    rm -rf "$2"
    mkdir -p "$2/bin" "$2/targets/sbsa-linux"
    for tool in "$from"/bin/*; do ln -s "$tool" "$2/bin/"; done
    rm "$2/bin/nvcc" && cp "$from/bin/nvcc" "$2/bin/nvcc.real"
    cp "$from/bin/nvcc.profile" "$2/bin/nvcc.real.profile" 2>/dev/null || true
    printf '#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/nvcc.real" -ccbin aarch64-linux-gnu-g++ "$@"\n' >"$2/bin/nvcc"
    chmod +x "$2/bin/nvcc"
    for folder in nvvm include; do ln -s "$from/$folder" "$2/$folder"; done
    mkdir "$2/lib" && ln -s ../../include "$2/targets/sbsa-linux/include" && ln -s ../../lib "$2/targets/sbsa-linux/lib"
    device_libraries "$2" || echo "arm.sh: without NVIDIA's wheel for aarch64 programs of -rdc=true do not link" >&2
}

# Suites that an emulator can't run, with the reason.
skipped() {
    case $1 in
    jail | hostproc | device_process | killed) echo "namespaces, seccomp and Landlock would hold the emulator, which needs more calls than its guest" ;;
    assignment | drawn | grader_verdicts | intake | jail_advice | similar | store | tune | vendor) echo "some of it, or all, runs in the jail" ;;
    grader_inputs) echo "an emulator hands on no MADV_DONTFORK, for which it looks" ;;
    budget | threads) [ "${TIMES:-}" ] || echo "it looks at the clock, which an emulator makes slow; TIMES=1 runs it" ;;
    backend_gpu | driver_numbers | measure) echo "it loads this machine's driver" ;;
    esac
}

# device_libraries TOOLKIT: fetches aarch64's device libraries, which -rdc=true links, from NVIDIA's wheel.
device_libraries() {
    wheel=$(sed -n 's/^wheel: \(nvidia-cuda-runtime==.*\)/\1/p' "$tests"/../../packages.txt)
    python3 -m pip download -q --no-deps --retries 0 --timeout 10 --platform manylinux_2_17_aarch64 -d "$1.wheel" "$wheel" &&
        python3 -m zipfile -e "$1.wheel"/*.whl "$1.wheel" && cp "$1.wheel"/nvidia/*/lib/*.a "$1/lib/"
    status=$?
    rm -rf "$1.wheel"
    return $status
}

suites() {
    qemu=$(emulator) failed=
    all=$(sed -n 's/^UNIT_SUITE(\(.*\)) {/\1/p' "$tests"/../unit/*.c | sort)
    for suite in ${SUITES:-$all}; do
        why=$(skipped "$suite")
        if [ "$why" ] && [ -z "${SUITES:-}" ]; then echo "$suite: skipped: $why"; continue; fi
        log=build/aarch64/tests/suite-$suite.log
        CK_DEFAULT_TIMEOUT=60 CK_TIMEOUT_MULTIPLIER=20 CK_EXCLUDE_TAGS=long CK_RUN_SUITE=$suite QEMU_LD_PREFIX=$1 \
            "$qemu" build/aarch64/tests/unit >"$log" 2>&1 || { cat "$log"; failed="$failed $suite"; }
        sed -n "s/^1*[0-9]*%: Checks/$suite: Checks/p" "$log"
    done
    [ -z "$failed" ] || fail "failed:$failed"
}

# Runs one program on one build: records its output, status, counters and modelled times.
run_on() {
    options=$(sed -n 's,^// run: ,,p' "$2")
    # shellcheck disable=SC2086
    status=0
    timeout "${SECONDS_EACH:-60}" $1 $options --counters json --time "$3" >"$3.out" 2>"$3.err" </dev/null || status=$?
    echo "status $status" >>"$3.err"
}

# A program's threads print concurrently, so their order varies on x86-64, too.
same_lines() {
    for part in out err; do
        sort "$1.$part" >"$1.sorted" && sort "$2.$part" | cmp -s - "$1.sorted" || return 1
    done
}

programs() {
    qemu=$(emulator) wrong=
    mkdir -p build/aarch64/programs
    for source in "$tests"/../programs/*.cu "$tests"/../torture/*.cu; do
        name=$(basename "$source" .cu)
        [ -z "${PROGRAMS:-}" ] || case " $PROGRAMS " in *" $name "*) ;; *) continue ;; esac
        options=$(sed -n 's,^// nvcc: ,,p' "$source")
        here=build/aarch64/programs/$name.x86-64 there=build/aarch64/programs/$name.aarch64
        # shellcheck disable=SC2086
        build/simgpu nvcc "$source" $options -o "$here" 2>/dev/null &&
            QEMU_LD_PREFIX=$1 "$qemu" build/aarch64/simgpu nvcc "$source" $options -o "$there" 2>/dev/null ||
            { echo "$name: skipped: it does not compile here"; continue; }
        run_on "build/simgpu run" "$source" "$here"
        QEMU_LD_PREFIX=$1 run_on "$qemu build/aarch64/simgpu run" "$source" "$there"
        # The emulator adds its own message if a signal ends a program.
        for part in out err; do
            sed -i "s,$there,PROGRAM,g; s,$here,PROGRAM,g; /^qemu: uncaught target signal/d" "$here.$part" "$there.$part"
        done
        if [ "$(tail -n 1 "$there.err")" = "status 124" ]; then echo "$name: skipped: too slow in an emulator"
        elif cmp -s "$here.out" "$there.out" && cmp -s "$here.err" "$there.err"; then echo "$name: equal"
        elif grep -q '^#include <thread>' "$source" && same_lines "$here" "$there"; then echo "$name: equal but for the order of lines"
        elif grep -q '^// not repeatable:' "$source"; then echo "$name: differs, and is not repeatable"
        else echo "$name: DIFFERS, see $there.out and .err"; wrong="$wrong $name"; fi
    done
    [ -z "$wrong" ] || fail "different:$wrong"
}

# An emulator is too slow for some timed sizes. These are timed at a smaller size, and listed.
compare_reports() {
    python3 - "$1" "$2" <<'END'
import json, sys
here, there = (json.load(open(f)) for f in sys.argv[1:])
def times(report):
    found = {}
    for exercise in report["exercises"]:
        found["speed"] = exercise.pop("speed")
        for kernel in exercise["kernels"]: found[kernel["name"]] = [kernel.pop("modelled_us", None), kernel.pop("bound_by", None)]
    return found
a, b = times(here), times(there)
parts = [e[k] for e in here["exercises"] for k in ("cases", "technique", "counters")]
said = f"{here['exercises'][0]['verdict']}, {here['exercises'][0]['score']} points, " + ", ".join(
    f"{len(p)} {k}" for p, k in zip(parts, ("cases", "checks", "counters")))
if here != there: print("DIFFERS:", said); sys.exit(1)
print("equal, times too:" if a == b else "equal but for times:", said)
END
}

book() {
    wrong=
    build/aarch64/grader --version >/dev/null 2>&1 || fail "build/aarch64/grader does not run here; as root:  arm.sh register FOLDER"
    mkdir -p build/aarch64/book
    for solution in solutions/*/*.cu; do
        name=$(basename "$solution" .cu)
        case $name in *-*) continue ;; esac
        [ -z "${EXERCISES:-}" ] || case " $EXERCISES " in *" $name "*) ;; *) continue ;; esac
        for b in build build/aarch64; do
            $b/grader run "$name" --file "$solution" --no-jail --seed emulated --format json --output "build/aarch64/book/$name-${b##*/}.json" || true
        done
        printf '%s: ' "$name"
        compare_reports "build/aarch64/book/$name-build.json" "build/aarch64/book/$name-aarch64.json" || wrong="$wrong $name"
    done
    [ -z "$wrong" ] || fail "different:$wrong"
}

case ${1:-} in
book) book ;;
root | register | suites | programs) [ $# = 2 ] || fail "$1 needs a folder" ; "$1" "$2" ;;
toolkit) [ $# = 3 ] || fail "toolkit needs two folders" ; toolkit "$2" "$3" ;;
*) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" ; exit 2 ;;
esac
