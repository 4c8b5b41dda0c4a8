#!/bin/sh
# deb.sh BUILD: BUILD/warpbook_VERSION_ARCHITECTURE.deb, of what grader/install.sh installs with PREFIX=/usr. Libraries that it depends on
# are those that the programs were linked with (dpkg-shlibdeps); the compiler for the host's part of a submission stands in
# grader/packages.txt, too. nvcc is found when it runs, and named as a suggestion: Debian's is not in main. Equal trees and
# toolchains give equal bytes.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

fail() { echo "deb: $*" >&2; exit 1; }
sh grader/setup.sh "$build" deb || exit
host_compiler=g++
grep -qw -- "$host_compiler" grader/packages.txt || fail "grader/packages.txt does not name $host_compiler, which the package depends on"

known=$(sh grader/version.sh)
version=${known% *}
export SOURCE_DATE_EPOCH="${known#* }"
architecture=$(dpkg --print-architecture)
stage=$build/deb
rm -rf "$stage"
mkdir -p "$stage/root/DEBIAN" "$stage/debian"
trap 'rm -rf "$stage"' EXIT
RECORD=no sh grader/install.sh "$build" /usr "$stage/root" >/dev/null
rm "$stage/root/usr/share/warpbook/files" # dpkg knows what is installed
mv "$stage/root/usr/share/doc/warpbook/LICENSE" "$stage/root/usr/share/doc/warpbook/copyright"

printf 'Source: warpbook\n\nPackage: warpbook\nArchitecture: any\n' >"$stage/debian/control"
libraries=$(cd "$stage" && dpkg-shlibdeps -O root/usr/bin/grader root/usr/bin/simgpu root/usr/libexec/warpbook/device root/usr/libexec/warpbook/hostproc 2>"$stage/said" |
    sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || { cat "$stage/said" >&2; fail "dpkg-shlibdeps finds no libraries"; }
cat >"$stage/root/DEBIAN/control" <<END
Package: warpbook
Version: $version
Architecture: $architecture
Maintainer: Warpbook <warpbook@localhost>
Section: education
Priority: optional
Installed-Size: $(du -sk "$stage/root" | cut -f1)
Depends: $libraries, $host_compiler
Suggests: nvidia-cuda-toolkit, git
Description: graded exercises in CUDA performance, with a simulated GPU
 A workbook: edit a working but slow kernel, run the grader. It builds the
 file with nvcc, checks it, says which line wastes what, and reports the
 speedup. No GPU is needed: a simulated one executes the PTX and counts.
 .
 It wants an nvcc of CUDA 12 or 13: on PATH, in CUDA_HOME, or in
 /usr/local/cuda.
END
(cd "$stage/root" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k2 >DEBIAN/md5sums)
find "$stage/root" -type d -exec chmod 755 {} +
out=$build/warpbook_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$stage/root" "$out" >/dev/null
echo "$out"
