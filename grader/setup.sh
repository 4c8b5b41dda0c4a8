#!/bin/sh
# setup.sh BUILD: installs what this machine lacks, and says what it installs.
# Debian packages come through apt (as root or with sudo); nvcc from PATH or /usr/local/cuda, else NVIDIA's
# compiler wheels from PyPI into BUILD/toolkit, for which no root is needed. BUILD/cuda then points to the toolkit.
set -eu
build=$1
mkdir -p "$build"

missing=
while read -r package; do
    case $package in '' | '#'*) continue ;; esac
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done <"$(dirname "$0")/packages.txt"

if [ -n "$missing" ]; then
    sudo=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null && sudo -n true 2>/dev/null && sudo=sudo ||
            { echo "setup: please install these packages first:  sudo apt-get install$missing" >&2; exit 1; }
    fi
    echo "setup: installing$missing"
    # shellcheck disable=SC2086
    { $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >"$build/apt.log" 2>&1; } ||
        { cat "$build/apt.log" >&2; echo "setup: apt-get could not install:$missing" >&2; exit 1; }
fi

nvcc=$(command -v nvcc || true)
[ -n "$nvcc" ] || { [ -x /usr/local/cuda/bin/nvcc ] && nvcc=/usr/local/cuda/bin/nvcc; }
if [ -n "$nvcc" ]; then
    toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
else
    toolkit=$(pwd)/$build/toolkit/cuda
    if [ ! -x "$toolkit/bin/nvcc" ]; then sh "$(dirname "$0")/setup-toolkit.sh" "$build"; fi
fi
rm -f "$build/cuda"
ln -s "$toolkit" "$build/cuda"
echo "setup: nvcc is $("$toolkit/bin/nvcc" --version | sed -n 's/.*release \([^,]*\),.*/\1/p') in $toolkit"
