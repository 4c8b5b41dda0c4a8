#!/bin/sh
# setup.sh BUILD [KIND]: finds what Warpbook needs on this machine and reports what is missing; make
# runs it first. packages.txt, in this folder, lists the needs.
#
# Libraries: one is present if a program with its header links, with the options of pkg-config or
# else with plain ones. The options go to BUILD/deps, a file for each library, which the Makefile
# passes to the compiler. apt installs what is missing, as root or with sudo; on other systems a
# message has the command. toml++ comes from PyPI where there is no package of it.
#
# Compiler: nvcc from PATH or /usr/local/cuda, else NVIDIA's wheels from PyPI, which need no root
# and go to BUILD/toolkit. The link BUILD/cuda then leads to the toolkit, and BUILD/nvdisasm to its
# disassembler or to that of a wheel. Only times from machine code need the disassembler.
#
# KIND is a word of the table's first column. `check` and `pages` go on if something is unavailable;
# `fuzz`, `slurm` and `deb` never install. `pages` also fetches axe-core from PyPI into BUILD/axe. `libraries` is like `build`, but installs nothing and looks for
# no nvcc; use it with the CC of another machine and PKG_CONFIG=none.
#
# setup.sh names FAMILY KIND…: prints the packages of apt, dnf, pacman, zypper or apk, one a line,
# for a container file.
# shellcheck disable=SC2034,SC2046,SC2086 # options and packages are lists of words
set -eu
table=$(dirname "$0")/packages.txt
families="apt dnf pacman zypper apk"
CC=${CC:-gcc} CXX=${CXX:-g++} PKG_CONFIG=${PKG_CONFIG:-pkg-config}

say() { echo "setup: $*"; }
fail() { say "$*" >&2; exit 1; }

# ---- the table ----

# rows KIND: prints the rows of one or more kinds, "NAME HOW APT DNF PACMAN ZYPPER APK".
rows() { for one_kind in $1; do sed -n "s/^$one_kind  *\([^ ].*\)/\1/p" "$table"; done; }

# names FAMILY KIND [NEED…]: prints the packages of these needs, or of all of that kind.
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
    case " $families " in *" $family "*) ;; *) fail "unknown family $family; choose one of: $families" ;; esac
    for kind in "$@"; do names "$family" "$kind"; done | sort -u
    exit 0
fi

build=$1
kind=${2:-build}
asked=$kind
mkdir -p "$build/deps"
probe=$build/deps/probe-$kind log=$build/deps/log-$kind
: >"$log"

# ---- finding what is present ----

# links HEADER OPTION…: succeeds if a program with that header links with these options.
links() {
    header=$1
    shift
    printf '#include <%s>\nint main(void) { return 0; }\n' "$header" |
        $CC -xc - -o "$probe" "$@" 2>>"$log"
}

# said FIELD PC: prints the options that pkg-config gives, without definitions, because those of
# toml++ would require its library. An rpath lets the program find libraries in other folders.
said() {
    [ "$2" != - ] && command -v "$PKG_CONFIG" >/dev/null && "$PKG_CONFIG" --exists "$2" || return 1
    case $1 in
        headers) "$PKG_CONFIG" --cflags-only-I "$2" ;;
        libraries) "$PKG_CONFIG" --libs "$2" | sed 's/-L\([^ ]*\)/-L\1 -Wl,-rpath,\1/g' ;;
    esac
}

# keep NAME OPTION…, keep_headers OPTION…: store options for the compiler in BUILD/deps.
keep() {
    file=$build/deps/$1
    shift
    echo "$*" >"$file"
}
keep_headers() { [ $# = 0 ] || grep -qsxF -e "$*" "$build/deps/headers" || echo "$*" >>"$build/deps/headers"; }

# has_library NAME HEADER,PC,WAYS: succeeds if the library links; stores its options.
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
            for option in $way; do case $option in -I*) keep_headers "$option" ;; esac; done
            return 0
        fi
        case $ways in *'|'*) ways=${ways#*|} ;; *) ways= ;; esac
    done
    return 1
}

# has_header HEADER,PC: succeeds if the C++ header is found, in BUILD/headers, too. It only
# preprocesses, because compiling would take seconds.
has_header() {
    headers=$(said headers "${1#*,}") || headers=
    [ ! -f "$build/headers/${1%,*}" ] || headers=-I$build/headers
    echo "#include <${1%,*}>" | $CXX -std=c++17 -E -xc++ - $headers 2>>"$log" >/dev/null && keep_headers $headers
}

# has_compiler VERSION: succeeds if CC is a GCC of that version or newer. Older ones don't know the
# levels of vector instructions (-march=x86-64-v3).
has_compiler() {
    command -v "${CC%% *}" >/dev/null &&
        printf '#if !defined __clang__ && __GNUC__ < %s\n#error\n#endif\n' "$1" | $CC -E -xc - >/dev/null 2>>"$log"
}

# runs PROGRAMS: succeeds if one of them is there.
runs() {
    for program in $(echo "$1" | tr '|' ' '); do
        if command -v "$program" >/dev/null; then return 0; fi
    done
    return 1
}

# has NAME HOW: succeeds if the need is present, by the check of the table's column "how".
has() {
    case $2 in
        run:*) runs "${2#*:}" ;;
        gcc:*) has_compiler "${2#*:}" ;;
        cxx:*) has_header "${2#*:}" ;;
        file:*) [ -e "${2#*:}" ] ;;
        python:*) python3 -c "import ${2#*:}" 2>>"$log" ;;
        c:*) has_library "$1" "${2#*:}" ;;
        *) fail "$table: unknown check $2" ;;
    esac
}

# missing KIND: prints the names of the needs that are missing.
missing() {
    rows "$1" | while read -r need how _; do
        has "$need" "$how" </dev/null || echo "$need"
    done
}

# ---- installing what is missing ----

tool_of() { case $1 in apt) echo apt-get ;; *) echo "$1" ;; esac; }

# family: prints this system's package family: the one of its name if that family's tool is present,
# else that of a tool which is, else the one of its name; empty = unknown.
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

# available FAMILY PACKAGE…: prints the packages that this release has, one a line; all of them if
# the lists of packages are empty, as on a fresh system, or another tool keeps them.
available() {
    known=
    if [ "$1" = apt ]; then known=$(apt-cache show "$@" 2>/dev/null | sed -n 's/^Package: //p' | sort -u); fi
    shift
    if [ "$known" ]; then echo "$known"; else printf '%s\n' "$@"; fi
}

# command_for FAMILY KIND NEED…: prints the command that installs the needs; nothing if the family
# has no packages for them.
command_for() {
    packages=$(names "$@")
    packages=$([ -z "$packages" ] || available "$1" $packages | tr '\n' ' ' | sed 's/ $//')
    [ "$packages" ] || return 0
    case $1 in
        apt) echo "${sudo}apt-get install --no-install-recommends $packages" ;;
        dnf) echo "${sudo}dnf install $packages" ;;
        pacman) echo "${sudo}pacman -S --needed $packages" ;;
        zypper) echo "${sudo}zypper install $packages" ;;
        apk) echo "${sudo}apk add $packages" ;;
    esac
}

# renewal FAMILY: prints the command that updates the package lists; nothing if the tool does it.
renewal() {
    case $1 in
        apt) echo "${sudo}apt-get update" ;;
        pacman) echo "${sudo}pacman -Syu" ;;
        apk) echo "${sudo}apk update" ;;
    esac
}

# in_words NEED HOW: prints a description of the need.
in_words() {
    case $2 in
        gcc:*) echo "$1 ${2#*:} or newer (CC=… CXX=… select another)" ;;
        python:*) echo "$1 3 (venv), which fetches NVIDIA's compiler" ;;
        c:* | cxx:*) look=${2#*:} && echo "$1 (${look%%,*})" ;;
        *) echo "$1" ;;
    esac
}

# tell KIND NEED…: prints what is missing and the command that installs it; for an unknown system,
# the commands of all families.
tell() {
    kind=$1
    shift
    say "missing here: $(rows "$kind" | while read -r name how _; do
        case " $* " in *" $name "*) in_words "$name" "$how" ;; esac
    done | sed '$!s/$/,/' | tr '\n' ' ')"
    for need in "$@"; do
        [ -z "$here" ] || [ "$(names "$here" "$kind" "$need")" ] || say "we know no $here package for $need"
    done
    lines=$(for one in ${here:-$families}; do command_for "$one" "$kind" "$@"; done)
    if [ -z "$here" ]; then say "unknown package manager; if you have one of these, run its command:"
    elif [ "$lines" ]; then say "to install it, run this command, then repeat yours:"; fi
    [ -z "$lines" ] || echo "$lines" | sed 's/^/setup:     /'
    renewed=$(renewal "$here")
    [ -z "$lines" ] || [ -z "$renewed" ] || say "(if packages are not found, your lists are old; run first:  $renewed)"
    say "if you can't install anything, see docs/other-systems.md"
}

# install NEED…: installs needs of $kind through apt. It fails with the reason in apt.log.
install() {
    unasked=
    [ "$(id -u)" = 0 ] || unasked="sudo -n"
    set -- $(names apt "$kind" "$@")
    [ $# != 0 ] || return 1
    say "installing $*"
    exec 9>"$build/apt.lock"
    flock 9 # make may run several setups at the same time
    # For optional tools, install one by one if the whole list fails: each one is useful alone.
    { $unasked apt-get update -qq; set -- $(available apt "$@"); fetch_packages "$@" || { is_optional "$kind" && for one in "$@"; do fetch_packages "$one"; done; }; } \
        >"$build/apt.log" 2>&1 || { flock -u 9; return 1; }
    flock -u 9
}
is_optional() { [ "$1" = check ] || [ "$1" = pages ]; }
fetch_packages() { $unasked env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; }

may_install() {
    [ "$here" = apt ] && command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

# run_pip MARK VENV ARGUMENT…: runs pip on the list's packages with that mark; in a temporary
# environment VENV where python3 has no pip.
run_pip() {
    mark=$1 venv=$2
    shift 2
    python=python3
    python3 -m pip --version >/dev/null 2>&1 || {
        rm -rf "$venv"
        python3 -m venv "$venv" || return 1
        python=$venv/bin/python
    }
    result=0
    sed -n "s/^$mark: //p" "$table" | PIP_USER=0 PIP_ROOT_USER_ACTION=ignore "$python" -m pip "$@" --no-deps \
        --disable-pip-version-check -r /dev/stdin || result=1
    rm -rf "$venv"
    return $result
}

# unpack_wheels FOLDER MARK [OPTION…]: unpacks the list's wheels with that mark into FOLDER.
unpack_wheels() {
    folder=$1 mark=$2
    shift 2
    rm -rf "$folder"
    run_pip "$mark" "$folder.venv" install "$@" --target "$folder" --no-compile
}

# fetch_toml: fetches toml++ into BUILD/headers, for releases without a package of it, such as
# Ubuntu 22.04: from the sources of its Python binding, which contain the headers.
fetch_toml() {
    command -v python3 >/dev/null || return 1
    say "found no toml++; fetching it into $build/headers:"
    sed -n 's/^toml: /    /p' "$table"
    rm -rf "$build/headers.new"
    mkdir "$build/headers.new"
    if run_pip toml "$build/headers.venv" download --no-binary :all: --dest "$build/headers.new" >"$build/pip.log" 2>&1 &&
        tar -xzf "$build/headers.new"/*.tar.gz -C "$build/headers.new" --strip-components=4 --wildcards '*/third_party/tomlplusplus/include/*'; then
        rm -rf "$build/headers" "$build/headers.new"/*.tar.gz
        mv "$build/headers.new" "$build/headers"
    else
        rm -rf "$build/headers.new"
        say "could not fetch it (see $build/pip.log)"
        return 1
    fi
}

# need KIND: finds or installs all needs of that kind; else prints what is missing, and fails.
need() {
    kind=$1
    lacking=$(missing "$kind" | tr '\n' ' ')
    [ "$lacking" ] || return 0
    here=$(family)
    case $kind in fuzz | slurm | deb) ;; *)
        if may_install; then
            install $lacking || { tail -n 3 "$build/apt.log" && say "apt-get failed; see $build/apt.log"; } >&2
            lacking=$(missing "$kind" | tr '\n' ' ')
            [ "$lacking" ] || return 0
        fi ;;
    esac
    case " $lacking" in *" toml++ "*)
        fetch_toml && lacking=$(missing "$kind" | tr '\n' ' ')
        [ "$lacking" ] || return 0 ;;
    esac
    tell "$kind" $lacking >&2
    return 1
}

# NVIDIA's compiler is built for glibc, programs and headers alike, so no package can help Alpine
# and its relatives.
case $(ls /lib/ld-musl-* 2>/dev/null) in ?*)
    getconf GNU_LIBC_VERSION >/dev/null 2>&1 ||
        fail "this system's C library is musl, but NVIDIA's compiler needs glibc; run Warpbook in a container of Debian, Fedora or another system with glibc (docs/other-systems.md)" ;;
esac

# kinds_to_build: prints the kinds to need for building. Without nvcc it adds what fetching the
# compiler needs, so that the user gets one command for everything.
kinds_to_build() {
    for nvcc in nvcc /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc "$build"/toolkit*/cuda/bin/nvcc; do
        if command -v "$nvcc" >/dev/null; then echo build && return; fi
    done
    if python3 -m pip --version >/dev/null 2>&1; then echo build; else echo "build nvcc"; fi
}

# fetch_axe: fetches axe-core into BUILD/axe; on failure that folder is missing.
fetch_axe() {
    say "fetching axe-core into $build/axe:"
    sed -n 's/^axe: /    /p' "$table"
    unpack_wheels "$build/axe.new" axe --timeout 10 --retries 0 >"$build/pip.log" 2>&1 && mv "$build/axe.new" "$build/axe"
}

case $asked in
    build | libraries) ;;
    check) need check || say "continuing without it"; exit 0 ;;
    pages)
        need pages || say "continuing without it"
        [ -d "$build/axe" ] || fetch_axe || say "could not fetch axe-core (see $build/pip.log); continuing without it"
        exit 0 ;;
    *) need "$asked"; exit ;;
esac
: >"$build/deps/headers"
if [ "$asked" = build ]; then need "$(kinds_to_build)"; else
    lacking=$(missing build | tr '\n' ' ')
    [ -z "$lacking" ] || fail "missing: $lacking"
fi
# The host process links a static libffi if there is one; then its sandbox needn't contain libffi.
static=$(sed 's/-lffi/-l:libffi.a/' "$build/deps/ffi")
if links ffi.h $(cat "$build/deps/headers") $static; then keep ffi-static $static; else cp "$build/deps/ffi" "$build/deps/ffi-static"; fi
rm -f "$probe"

# Stores on a server need libpq's header to compile; the grader loads the library itself on demand.
if [ "$(missing store)" ]; then
    (kind=store here=$(family) && [ "$asked" = build ] && may_install && install $(missing store) && [ -z "$(missing store)" ]) ||
        say "no PostgreSQL client library (libpq), so a class's store can only be a file; nothing else needs it"
fi
[ "$asked" = build ] || exit 0

if [ "$(missing editor)" ]; then
    (kind=editor here=$(family) && may_install && install $(missing editor)) ||
        say "no CodeMirror, so the editor of \`grader serve\` is a text field; nothing else needs it"
fi

# ---- the compiler ----

# fetch_toolkit MARK FOLDER: fetches the wheels with that mark into BUILD/FOLDER.
fetch_toolkit() {
    python3 -m pip --version >/dev/null 2>&1 || need nvcc || fail "python3 is needed to fetch NVIDIA's compiler; or install the CUDA Toolkit 12.0 or newer and put nvcc on PATH"
    say "found no nvcc that works; fetching NVIDIA's compiler wheels into $build/$2:"
    sed -n "s/^$1: /    /p" "$table"
    rm -rf "${build:?}/$2"
    if ! unpack_wheels "$build/$2.new" "$1" >"$build/pip.log" 2>&1; then
        tail -n 2 "$build/pip.log" >&2
        rm -rf "$build/$2.new"
        say "could not fetch the compiler (see $build/pip.log). Do one of these:" >&2
        say "  - connect to PyPI, or to a mirror of it (PIP_INDEX_URL=…), and repeat the command" >&2
        say "  - install the CUDA Toolkit 12.0 or newer, with nvcc on PATH or in /usr/local/cuda" >&2
        fail "  - copy the folder build/$2 of a machine where this worked to $build/$2"
    fi
    mkdir "$build/$2"
    mv "$build/$2.new/nvidia/cu13" "$build/$2/cuda"
    rm -rf "$build/$2.new"
}

# fetch_disassembler: fetches nvdisasm into BUILD/disassembler; on failure that folder is missing.
fetch_disassembler() {
    say "found no nvdisasm; fetching NVIDIA's wheel into $build/disassembler:"
    sed -n 's/^disassembler: /    /p' "$table"
    unpack_wheels "$build/disassembler.new" disassembler --timeout 10 --retries 0 >"$build/pip.log" 2>&1 || { rm -rf "$build/disassembler.new"; return 1; }
    rm -rf "$build/disassembler"
    mkdir "$build/disassembler"
    mv "$build/disassembler.new/nvidia/cu13/bin/nvdisasm" "$build/disassembler/nvdisasm" || return 1
    chmod +x "$build/disassembler/nvdisasm"
    rm -rf "$build/disassembler.new"
}

# toolkit_of NVCC: prints the toolkit's folder, which nvcc itself knows (the one on PATH may be a
# wrapper); fails if nvcc doesn't run.
toolkit_of() {
    top=$("$1" --dryrun -c none.cu 2>&1 | sed -n 's/^#\$ TOP=//p') && [ -n "$top" ] && cd "$top" 2>/dev/null && pwd -P
}

version_of() { "$1/bin/nvcc" --version 2>/dev/null | sed -n 's/.*release \([^,]*\),.*/\1/p'; }

# fault_of TOOLKIT: prints why the toolkit is unusable; nothing if it is usable. It must accept this
# system's g++ and C library, whose declarations may collide with its own.
fault_of() {
    release=$(version_of "$1")
    [ "$release" ] || { echo "does not run"; return; }
    [ "${release%%.*}" -ge 12 ] || { echo "is of CUDA $release; Warpbook needs 12.0 or newer"; return; }
    [ -f "$1/include/cuda_runtime_api.h" ] || { echo "lacks ../include/cuda_runtime_api.h"; return; }
    printf '#include <cuda_runtime.h>\n__global__ void probe(float *out) { *out = 1; }\n' >"$probe.cu"
    PATH="$1/bin:/usr/bin" "$1/bin/nvcc" -shared -Xcompiler -fPIC -cudart none -gencode arch=compute_90,code=compute_90 \
        "$probe.cu" -o "$probe.so" >"$build/deps/nvcc.log" 2>&1 ||
        echo "does not compile with this system's $(/usr/bin/g++ --version | sed -n 1p): $(grep -m 1 -i error "$build/deps/nvcc.log" | cut -c 1-200)"
    rm -f "$probe.cu" "$probe.so"
}

# takes TOOLKIT: succeeds if the toolkit is usable, and sets $toolkit; else prints why not.
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
# fetched MARK FOLDER: succeeds if the fetched toolkit is usable.
fetched() {
    [ -x "$build/$2/cuda/bin/nvcc" ] || fetch_toolkit "$1" "$2"
    takes "$(cd "$build/$2/cuda" && pwd -P)"
}

# The newer wheels are for systems whose g++ or C library is too new for the others.
installed || fetched wheel toolkit || fetched newer toolkit-newer || fail "no usable nvcc; see docs/other-systems.md"
rm -f "$build/cuda"
ln -s "$toolkit" "$build/cuda"
version=$(version_of "$toolkit")
say "nvcc $version in $toolkit"
[ "${version%%.*}" -le 13 ] || say "this nvcc is newer than any tested one; if something looks wrong, put nvcc 12 or 13 on PATH"

disassembler=$toolkit/bin/nvdisasm
if [ ! -x "$disassembler" ]; then
    [ -x "$build/disassembler/nvdisasm" ] || fetch_disassembler ||
        say "could not fetch it (see $build/pip.log); with a network, \`make setup\` tries again"
    disassembler=$(cd "$build" && pwd)/disassembler/nvdisasm
fi
rm -f "$build/nvdisasm"
if [ -x "$disassembler" ] && told=$("$disassembler" --version | sed -n 's/.*, V//p') && [ -n "$told" ]; then
    ln -s "$disassembler" "$build/nvdisasm"
    say "nvdisasm $told in $disassembler"
else
    say "no nvdisasm, so --machine-code is unavailable; nothing else needs it"
fi
