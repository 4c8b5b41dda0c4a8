#!/bin/sh
# deb.sh BUILD: makes BUILD/warpbook_VERSION_ARCHITECTURE.deb for `make deb`, from the files that
# grader/install.sh installs with PREFIX=/usr. It depends on the libraries that the programs were
# linked with (dpkg-shlibdeps) and on g++, which compiles a submission's host code. The grader finds
# nvcc at run time; the package only suggests it, because Debian's isn't in main. The same tree and
# toolchain give the same bytes.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

fail() { echo "deb: $*" >&2; exit 1; }
sh grader/setup.sh "$build" deb || exit
host_compiler=g++
grep -qw -- "$host_compiler" grader/packages.txt || fail "the package depends on $host_compiler, which grader/packages.txt doesn't list"

known=$(sh grader/version.sh)
version=${known% *}
export SOURCE_DATE_EPOCH="${known#* }"
architecture=$(dpkg --print-architecture)
stage=$build/deb
rm -rf "$stage"
mkdir -p "$stage/root/DEBIAN" "$stage/debian"
trap 'rm -rf "$stage"' EXIT
RECORD=no sh grader/install.sh "$build" /usr "$stage/root" >/dev/null
rm "$stage/root/usr/share/warpbook/files" # dpkg keeps its own list
mv "$stage/root/usr/share/doc/warpbook/LICENSE" "$stage/root/usr/share/doc/warpbook/copyright"

printf 'Source: warpbook\n\nPackage: warpbook\nArchitecture: any\n' >"$stage/debian/control"
libraries=$(cd "$stage" && dpkg-shlibdeps -O root/usr/bin/grader root/usr/bin/simgpu root/usr/libexec/warpbook/device root/usr/libexec/warpbook/hostproc root/usr/libexec/warpbook/trim_headers 2>"$stage/said" |
    sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || { cat "$stage/said" >&2; fail "dpkg-shlibdeps found no libraries"; }
cat >"$stage/root/DEBIAN/control" <<END
Package: warpbook
Version: $version
Architecture: $architecture
Maintainer: Warpbook <warpbook@localhost>
Section: education
Priority: optional
Installed-Size: $(du -sk "$stage/root" | cut -f1)
Depends: $libraries, $host_compiler
Recommends: libjs-codemirror, libpq5
Suggests: nvidia-cuda-toolkit, git
Description: graded exercises in CUDA performance, with a simulated GPU
 A workbook: edit a correct but slow kernel and run the grader. It compiles
 the file with nvcc, checks the results, shows what each line wastes and
 reports the speedup. You need no GPU: a simulated one executes the PTX.
 .
 It needs nvcc of CUDA 12 or 13: on PATH, in CUDA_HOME or in
 /usr/local/cuda.
END
(cd "$stage/root" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k2 >DEBIAN/md5sums)
find "$stage/root" -type d -exec chmod 755 {} +
out=$build/warpbook_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$stage/root" "$out" >/dev/null
echo "$out"
