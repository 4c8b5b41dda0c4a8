#!/bin/sh
# setup.sh BUILD [KIND]: finds what Warpbook needs on this machine, and says what is missing. packages.txt beside this file is the list.
# A library is there if a program with its header links, whoever installed it: with the options of pkg-config, else plain ones. They
# stay in BUILD/deps, a file for each, which the Makefile hands to the compiler. What is missing comes through apt, as root or with
# sudo; everywhere else a message has the command. nvcc: from PATH or /usr/local/cuda, else NVIDIA's wheels from PyPI into
# BUILD/toolkit, for which no root is needed. BUILD/cuda then points to the toolkit, and BUILD/nvdisasm to the disassembler, the
# toolkit's or that of a wheel; nothing needs it but times from machine code, and setup goes on without.
#
# KIND is one of the table's: `check` goes on without what is not to be had; `fuzz` and `slurm` only ask. `libraries`: as for building, but
# nothing is installed, and no compiler for CUDA looked for; with CC of another machine, PKG_CONFIG=none.
# setup.sh names FAMILY KIND…: the packages of apt, dnf, pacman, zypper or apk, one a line, for whoever writes a container file.
# shellcheck disable=SC2034,SC2046,SC2086 # options and packages are lists of words
set -eu
table=$(dirname "$0")/packages.txt
families="apt dnf pacman zypper apk"
CC=${CC:-gcc} CXX=${CXX:-g++} PKG_CONFIG=${PKG_CONFIG:-pkg-config}

say() { echo "setup: $*"; }
fail() { say "$*" >&2; exit 1; }

# ---- the table ----

# rows KIND, or several in one word: "NAME HOW APT DNF PACMAN ZYPPER APK", a line each
rows() { for one_kind in $1; do sed -n "s/^$one_kind  *\([^ ].*\)/\1/p" "$table"; done; }

# names FAMILY KIND [NEED…]: the packages of these needs, or of all of that kind.
names() {
    want=$1 kind=$2
    shift 2
    rows "$kind" | while read -r need _ apt dnf pacman zypper apk; do
        case " ${*:-$need} " in *" $need "*) ;; *) continue ;; esac
        eval "echo \"\$$want\"" | tr , '\n'
    done | sed '/^-$/d' | sort -u
}

if [ "$1" = names ]; then
    family=$2
    shift 2
    case " $families " in *" $family "*) ;; *) fail "no family $family; there are: $families" ;; esac
    for kind in "$@"; do names "$family" "$kind"; done | sort -u
    exit 0
fi

build=$1
kind=${2:-build}
asked=$kind
mkdir -p "$build/deps"
probe=$build/deps/probe-$kind log=$build/deps/log-$kind
: >"$log"

# ---- is it here? ----

# links HEADER OPTION…: whether a program with that header links with these options.
links() {
    header=$1
    shift
    printf '#include <%s>\nint main(void) { return 0; }\n' "$header" |
        $CC -xc - -o "$probe" "$@" 2>>"$log"
}

# said FIELD PC: what pkg-config says, without definitions: those of toml++ would ask for its library. Libraries of a folder of
# their own are found there by the program, too.
said() {
    [ "$2" != - ] && command -v "$PKG_CONFIG" >/dev/null && "$PKG_CONFIG" --exists "$2" || return 1
    case $1 in
        headers) "$PKG_CONFIG" --cflags-only-I "$2" ;;
        libraries) "$PKG_CONFIG" --libs "$2" | sed 's/-L\([^ ]*\)/-L\1 -Wl,-rpath,\1/g' ;;
    esac
}

# keep NAME OPTION…, keep_headers OPTION…: what the compiler is told from now on.
keep() {
    file=$build/deps/$1
    shift
    echo "$*" >"$file"
}
keep_headers() { [ $# = 0 ] || grep -qsxF -e "$*" "$build/deps/headers" || echo "$*" >>"$build/deps/headers"; }

# has_library NAME HEADER,PC,WAYS
has_library() {
    header=${2%%,*} pc=${2#*,} ways=${2##*,}
    pc=${pc%%,*}
    if headers=$(said headers "$pc") && libraries=$(said libraries "$pc") && links "$header" $headers $libraries; then
        keep_headers $headers
        keep "$1" $libraries
        return 0
    fi
    while [ "$ways" ]; do
        way=$(echo "${ways%%|*}" | tr + ' ')
        [ "$way" != - ] || way=
        if links "$header" $way; then
            keep "$1" $way
            return 0
        fi
        case $ways in *'|'*) ways=${ways#*|} ;; *) ways= ;; esac
    done
    return 1
}

# has_header HEADER,PC: of C++; nothing of it is compiled, which would take seconds.
has_header() {
    headers=$(said headers "${1#*,}") || headers=
    echo "#include <${1%,*}>" | $CXX -std=c++17 -E -xc++ - $headers 2>>"$log" >/dev/null && keep_headers $headers
}

# has_compiler VERSION: of GCC's kind. Older ones do not know the levels of vector instructions (-march=x86-64-v3).
has_compiler() {
    command -v "${CC%% *}" >/dev/null &&
        printf '#if !defined __clang__ && __GNUC__ < %s\n#error\n#endif\n' "$1" | $CC -E -xc - >/dev/null 2>>"$log"
}

# has NAME HOW
has() {
    case $2 in
        run:*) command -v "${2#*:}" >/dev/null ;;
        gcc:*) has_compiler "${2#*:}" ;;
        cxx:*) has_header "${2#*:}" ;;
        python:*) python3 -c "import ${2#*:}" 2>>"$log" ;;
        c:*) has_library "$1" "${2#*:}" ;;
        *) fail "$table: what is $2?" ;;
    esac
}

# missing KIND: the names of what is not here.
missing() {
    rows "$1" | while read -r need how _; do
        has "$need" "$how" </dev/null || echo "$need"
    done
}

# ---- what to do about it ----

tool_of() { case $1 in apt) echo apt-get ;; *) echo "$1" ;; esac; }

# family: of this system, by its name where the family's tool is here, else by the tools, else by the name alone; empty = not known.
family() {
    named=
    for id in $(. /etc/os-release 2>/dev/null && echo "${ID:-} ${ID_LIKE:-}"); do
        case $id in
            debian | ubuntu) named=apt ;;
            fedora | rhel | centos) named=dnf ;;
            arch) named=pacman ;;
            suse | opensuse | opensuse-*) named=zypper ;;
            alpine | wolfi | chimera) named=apk ;;
            *) continue ;;
        esac
        break
    done
    for one in $named $families; do
        command -v "$(tool_of "$one")" >/dev/null && echo "$one" && return
    done
    echo "$named"
}

sudo=$([ "$(id -u)" = 0 ] || echo "sudo ")

# command_for FAMILY KIND NEED…: what a person types to have it; empty where nothing of it is packaged.
command_for() {
    packages=$(names "$@" | tr '\n' ' ' | sed 's/ $//')
    [ "$packages" ] || return 0
    case $1 in
        apt) echo "${sudo}apt-get install --no-install-recommends $packages" ;;
        dnf) echo "${sudo}dnf install $packages" ;;
        pacman) echo "${sudo}pacman -S --needed $packages" ;;
        zypper) echo "${sudo}zypper install $packages" ;;
        apk) echo "${sudo}apk add $packages" ;;
    esac
}

# renewal FAMILY: what a person types first where packages are not found; empty where the family's tool sees to that.
renewal() {
    case $1 in
        apt) echo "${sudo}apt-get update" ;;
        pacman) echo "${sudo}pacman -Syu" ;;
        apk) echo "${sudo}apk update" ;;
    esac
}

# in_words NEED HOW: what was looked for.
in_words() {
    case $2 in
        gcc:*) echo "$1 ${2#*:} or newer (CC=… CXX=… name another)" ;;
        python:*) echo "$1 3 (venv), which fetches NVIDIA's compiler" ;;
        c:* | cxx:*) look=${2#*:} && echo "$1 (${look%%,*})" ;;
        *) echo "$1" ;;
    esac
}

# tell KIND NEED…: what is missing, and the command that brings it; where the system is not known, those of all.
tell() {
    kind=$1
    shift
    say "missing here: $(rows "$kind" | while read -r name how _; do
        case " $* " in *" $name "*) in_words "$name" "$how" ;; esac
    done | sed '$!s/$/,/' | tr '\n' ' ')"
    for need in "$@"; do
        [ -z "$here" ] || [ "$(names "$here" "$kind" "$need")" ] || say "we know of no package of $here for $need"
    done
    lines=$(for one in ${here:-$families}; do command_for "$one" "$kind" "$@"; done)
    if [ -z "$here" ]; then say "this system's package manager is none that we know; where there is one of these, it is brought by"
    elif [ "$lines" ]; then say "this brings it; then type the same again:"; fi
    [ -z "$lines" ] || echo "$lines" | sed 's/^/setup:     /'
    renewed=$(renewal "$here")
    [ -z "$lines" ] || [ -z "$renewed" ] || say "(where packages are not found, their lists are old: first  $renewed)"
    say "where nothing can be installed: docs/other-systems.md"
}

# install NEED…, of $kind: through apt. Fails with the reason in apt.log.
install() {
    unasked=
    [ "$(id -u)" = 0 ] || unasked="sudo -n"
    set -- $(names apt "$kind" "$@")
    [ $# != 0 ] || return 1
    say "installing $*"
    exec 9>"$build/apt.lock"
    flock 9 # make runs several of us side by side
    # One by one where not all are to be had: the others are worth having.
    { $unasked apt-get update -qq; fetch_packages "$@" || { [ "$kind" = check ] && for one in "$@"; do fetch_packages "$one"; done; }; } \
        >"$build/apt.log" 2>&1 || { flock -u 9; return 1; }
    flock -u 9
}
fetch_packages() { $unasked env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; }

may_install() {
    [ "$here" = apt ] && command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

# need KIND: finds or installs all of that kind; else says what is missing, and fails.
need() {
    kind=$1
    lacking=$(missing "$kind" | tr '\n' ' ')
    [ "$lacking" ] || return 0
    here=$(family)
    case $kind in fuzz | slurm | deb) ;; *)
        if may_install; then
            install $lacking || { tail -n 3 "$build/apt.log" && say "apt-get failed; $build/apt.log has all of it"; } >&2
            lacking=$(missing "$kind" | tr '\n' ' ')
            [ "$lacking" ] || return 0
        fi ;;
    esac
    tell "$kind" $lacking >&2
    return 1
}

# NVIDIA's compiler is made for glibc, with programs and headers of its own; so Alpine and its kin are out, whatever they have installed.
case $(ls /lib/ld-musl-* 2>/dev/null) in ?*)
    getconf GNU_LIBC_VERSION >/dev/null 2>&1 ||
        fail "this system's C library is musl. NVIDIA's compiler runs with glibc only, so Warpbook does not run here; it does in a container of Debian, Fedora or another system with glibc (docs/other-systems.md)" ;;
esac

# What fetching the compiler takes is asked for with the rest where there is no nvcc: one command, not one after the other.
kinds_to_build() {
    for nvcc in nvcc /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc "$build"/toolkit*/cuda/bin/nvcc; do
        if command -v "$nvcc" >/dev/null; then echo build && return; fi
    done
    if python3 -m pip --version >/dev/null 2>&1; then echo build; else echo "build nvcc"; fi
}

case $asked in
    build | libraries) ;;
    check) need check || say "going on without"; exit 0 ;;
    *) need "$asked"; exit ;;
esac
: >"$build/deps/headers"
if [ "$asked" = build ]; then need "$(kinds_to_build)"; else
    lacking=$(missing build | tr '\n' ' ')
    [ -z "$lacking" ] || fail "missing: $lacking"
fi
# The host process links libffi into itself where there is a static one: then its jail has to show none.
static=$(sed 's/-lffi/-l:libffi.a/' "$build/deps/ffi")
if links ffi.h $(cat "$build/deps/headers") $static; then keep ffi-static $static; else cp "$build/deps/ffi" "$build/deps/ffi-static"; fi
rm -f "$probe"
[ "$asked" = build ] || exit 0

# ---- the compiler ----

# unpack_wheels FOLDER MARK [OPTION…]: the wheels so marked in the list, side by side in FOLDER.
unpack_wheels() {
    folder=$1 mark=$2
    shift 2
    rm -rf "$folder" "$folder.venv"
    if python3 -m pip --version >/dev/null 2>&1; then python=python3; else
        python3 -m venv "$folder.venv" || return 1
        python=$folder.venv/bin/python
    fi
    result=0
    sed -n "s/^$mark: //p" "$table" | PIP_USER=0 PIP_ROOT_USER_ACTION=ignore "$python" -m pip install "$@" --target "$folder" \
        --no-deps --no-compile --disable-pip-version-check -r /dev/stdin || result=1
    rm -rf "$folder.venv"
    return $result
}

# fetch_toolkit MARK FOLDER: the wheels so marked, into that folder of BUILD.
fetch_toolkit() {
    python3 -m pip --version >/dev/null 2>&1 || need nvcc || fail "python3 fetches NVIDIA's compiler; or install the CUDA Toolkit, 12.0 or newer, and put nvcc on PATH"
    say "no nvcc here that works; fetching NVIDIA's compiler wheels into $build/$2:"
    sed -n "s/^$1: /    /p" "$table"
    rm -rf "${build:?}/$2"
    if ! unpack_wheels "$build/$2.new" "$1" >"$build/pip.log" 2>&1; then
        tail -n 2 "$build/pip.log" >&2
        rm -rf "$build/$2.new"
        say "could not fetch the compiler ($build/pip.log has all of it). One of these helps:" >&2
        say "  - a network that reaches PyPI, or a mirror of it (PIP_INDEX_URL=…), then the same again" >&2
        say "  - the CUDA Toolkit, 12.0 or newer, with nvcc on PATH or in /usr/local/cuda" >&2
        fail "  - the folder build/$2 of a machine where this worked, copied to $build/$2"
    fi
    mkdir "$build/$2"
    mv "$build/$2.new/nvidia/cu13" "$build/$2/cuda"
    rm -rf "$build/$2.new"
}

# fetch_disassembler: into BUILD/disassembler; a folder that is not there says that it could not be.
fetch_disassembler() {
    say "no nvdisasm here; fetching NVIDIA's wheel into $build/disassembler:"
    sed -n 's/^disassembler: /    /p' "$table"
    unpack_wheels "$build/disassembler.new" disassembler --timeout 10 --retries 0 >"$build/pip.log" 2>&1 || { rm -rf "$build/disassembler.new"; return 1; }
    rm -rf "$build/disassembler"
    mkdir "$build/disassembler"
    mv "$build/disassembler.new/nvidia/cu13/bin/nvdisasm" "$build/disassembler/nvdisasm" || return 1
    chmod +x "$build/disassembler/nvdisasm"
    rm -rf "$build/disassembler.new"
}

# toolkit_of NVCC: the folder above the real compiler (what is on PATH may be a wrapper); fails if it does not run.
toolkit_of() {
    top=$("$1" --dryrun -c none.cu 2>&1 | sed -n 's/^#\$ TOP=//p') && [ -n "$top" ] && cd "$top" 2>/dev/null && pwd -P
}

version_of() { "$1/bin/nvcc" --version 2>/dev/null | sed -n 's/.*release \([^,]*\),.*/\1/p'; }

# fault_of TOOLKIT: why it can't be used, in words; nothing where it can. It has to take this system's g++ and C library, whose
# names may be those of its own functions.
fault_of() {
    release=$(version_of "$1")
    [ "$release" ] || { echo "does not run"; return; }
    [ "${release%%.*}" -ge 12 ] || { echo "is of CUDA $release; 12.0 is the oldest that Warpbook takes"; return; }
    [ -f "$1/include/cuda_runtime_api.h" ] || { echo "has no include/cuda_runtime_api.h beside it"; return; }
    printf '#include <cuda_runtime.h>\n__global__ void probe(float *out) { *out = 1; }\n' >"$probe.cu"
    PATH="$1/bin:/usr/bin" "$1/bin/nvcc" -shared -Xcompiler -fPIC -cudart none -gencode arch=compute_90,code=compute_90 \
        "$probe.cu" -o "$probe.so" >"$build/deps/nvcc.log" 2>&1 ||
        echo "does not compile with this system's $(/usr/bin/g++ --version | sed -n 1p): $(grep -m 1 -i error "$build/deps/nvcc.log" | cut -c 1-200)"
    rm -f "$probe.cu" "$probe.so"
}

# takes TOOLKIT: whether it can be used, as $toolkit; else says why not.
takes() {
    toolkit=$1
    fault=$(fault_of "$toolkit")
    [ -z "$fault" ] || { say "$toolkit/bin/nvcc $fault"; return 1; }
}
installed() {
    for nvcc in nvcc /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
        found=$(toolkit_of "$nvcc") && takes "$found" && return
    done
    return 1
}
# fetched MARK FOLDER
fetched() {
    [ -x "$build/$2/cuda/bin/nvcc" ] || fetch_toolkit "$1" "$2"
    takes "$(cd "$build/$2/cuda" && pwd -P)"
}

# The last are for systems whose g++ or C library is too new for the others.
installed || fetched wheel toolkit || fetched newer toolkit-newer || fail "no nvcc can be used here; docs/other-systems.md says what helps"
rm -f "$build/cuda"
ln -s "$toolkit" "$build/cuda"
version=$(version_of "$toolkit")
say "nvcc $version in $toolkit"
[ "${version%%.*}" -le 13 ] || say "which is newer than any that Warpbook was seen with; if something looks wrong, put an nvcc of 12 or 13 on PATH"

disassembler=$toolkit/bin/nvdisasm
if [ ! -x "$disassembler" ]; then
    [ -x "$build/disassembler/nvdisasm" ] || fetch_disassembler || true
    disassembler=$(cd "$build" && pwd)/disassembler/nvdisasm
fi
rm -f "$build/nvdisasm"
if [ -x "$disassembler" ] && told=$("$disassembler" --version | sed -n 's/.*, V//p') && [ -n "$told" ]; then
    ln -s "$disassembler" "$build/nvdisasm"
    say "nvdisasm $told in $disassembler"
else
    say "no nvdisasm, so --machine-code is not to be had; nothing else needs it"
fi
