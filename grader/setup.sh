#!/bin/sh
# setup.sh BUILD [check]: installs what this machine lacks, and says what it installs. The list is packages.txt beside this file.
# Debian packages come through apt (as root or with sudo); nvcc from PATH or /usr/local/cuda, else NVIDIA's compiler
# wheels from PyPI into BUILD/toolkit, for which no root is needed. BUILD/cuda then points to the toolkit, and BUILD/nvdisasm to the
# disassembler, the toolkit's or that of a wheel. Nothing needs it but times from machine code: where it is not to be had at once,
# setup goes on without.
set -eu
build=$1
list=$(dirname "$0")/packages.txt
kind=${2:-}
mkdir -p "$build"

fail() { echo "setup: $*" >&2; exit 1; }

# install PACKAGE…: those that are missing, through apt.
install() {
    missing=
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || fail "this system has no apt-get; install what corresponds to these Debian packages:$missing"
    sudo=
    if [ "$(id -u)" != 0 ]; then
        { command -v sudo >/dev/null && sudo -n true 2>/dev/null; } || fail "please install these packages first:  sudo apt-get install$missing"
        sudo=sudo
    fi
    echo "setup: installing$missing"
    # shellcheck disable=SC2086
    { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >"$build/apt.log" 2>&1 ||
        { cat "$build/apt.log" >&2; fail "apt-get could not install:$missing"; }
}

# fetch_toolkit: the wheels, unpacked side by side into BUILD/toolkit.
fetch_toolkit() {
    # shellcheck disable=SC2046
    install $(sed -n 's/^nvcc: //p' "$list")
    echo "setup: no nvcc here; fetching NVIDIA's compiler wheels into $build/toolkit:"
    sed -n 's/^wheel: /    /p' "$list"
    rm -rf "$build/toolkit"
    if ! unpack_wheels "$build/toolkit.new" wheel >"$build/pip.log" 2>&1; then
        cat "$build/pip.log" >&2
        rm -rf "$build/toolkit.new"
        fail "could not fetch the compiler; or install the CUDA Toolkit and put nvcc on PATH"
    fi
    mkdir "$build/toolkit"
    mv "$build"/toolkit.new/lib/python3*/site-packages/nvidia/cu13 "$build/toolkit/cuda"
    rm -rf "$build/toolkit.new"
}

# unpack_wheels FOLDER MARK [OPTION…]: the wheels so marked in the list, below FOLDER as python lays them out. Fails, with the reason in pip.log.
unpack_wheels() {
    rm -rf "$1"
    folder=$1 mark=$2
    shift 2
    python3 -m venv "$folder" && sed -n "s/^$mark: //p" "$list" | "$folder/bin/python" -m pip install "$@" \
        --no-deps --no-compile --disable-pip-version-check -r /dev/stdin
}

# fetch_disassembler: into BUILD/disassembler; a folder that is not there says that it could not be.
fetch_disassembler() {
    echo "setup: no nvdisasm here; fetching NVIDIA's wheel into $build/disassembler:"
    sed -n 's/^disassembler: /    /p' "$list"
    unpack_wheels "$build/disassembler.new" disassembler --timeout 10 --retries 0 >"$build/pip.log" 2>&1 || { rm -rf "$build/disassembler.new"; return 1; }
    rm -rf "$build/disassembler"
    mkdir "$build/disassembler"
    mv "$build"/disassembler.new/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm "$build/disassembler/nvdisasm" || return 1
    chmod +x "$build/disassembler/nvdisasm"
    rm -rf "$build/disassembler.new"
}

# What only `make check` and `make format` use: done without where it is not to be had, and they say so.
if [ "$kind" = check ]; then
    # shellcheck disable=SC2046
    (install $(sed -n 's/^check: //p' "$list")) || echo "setup: going on without"
    exit 0
fi

# shellcheck disable=SC2046
install $(grep -vE '^#|: ' "$list")

# toolkit_of NVCC: the folder above the real compiler (what is on PATH may be a wrapper); fails if it does not run.
toolkit_of() {
    top=$("$1" --dryrun -c none.cu 2>&1 | sed -n 's/^#\$ TOP=//p') && [ -n "$top" ] && cd "$top" 2>/dev/null && pwd -P
}

toolkit=$(toolkit_of nvcc || toolkit_of /usr/local/cuda/bin/nvcc || true)
if [ -z "$toolkit" ]; then
    [ -x "$build/toolkit/cuda/bin/nvcc" ] || fetch_toolkit
    toolkit=$(cd "$build/toolkit/cuda" && pwd)
fi
rm -f "$build/cuda"
ln -s "$toolkit" "$build/cuda"
version=$("$toolkit/bin/nvcc" --version | sed -n 's/.*release \([^,]*\),.*/\1/p') || fail "$toolkit/bin/nvcc does not run"
echo "setup: nvcc $version in $toolkit"

disassembler=$toolkit/bin/nvdisasm
if [ ! -x "$disassembler" ]; then
    [ -x "$build/disassembler/nvdisasm" ] || fetch_disassembler || true
    disassembler=$(cd "$build" && pwd)/disassembler/nvdisasm
fi
rm -f "$build/nvdisasm"
if [ -x "$disassembler" ] && said=$("$disassembler" --version | sed -n 's/.*, V//p') && [ -n "$said" ]; then
    ln -s "$disassembler" "$build/nvdisasm"
    echo "setup: nvdisasm $said in $disassembler"
else
    echo "setup: no nvdisasm, so --machine-code is not to be had; nothing else needs it"
fi
