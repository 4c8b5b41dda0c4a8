#!/bin/sh
# install.sh BUILD PREFIX DESTDIR [uninstall]: does the work of `make install` and `make uninstall`.
# Below DESTDIR/PREFIX it makes
#   bin/                  grader, simgpu
#   libexec/warpbook/     the programs that run in the sandbox
#   lib/warpbook/         the runtime library, which submissions are linked with; our vendor libraries; the
#                         toolkit, if setup fetched one
#   share/warpbook/       the book: chapters, solutions, common (headers, for hidden cases);
#                         `installed`, by which programs know that they are installed
#                         (common/paths.h), with the toolkit of the build; `files`, the list for
#                         uninstall
#   include/simgpu.h, lib/libsimgpu.a, lib/pkgconfig/    the simulator as a library
#   share/man/man1/       simgpu's manual page
#   share/doc/warpbook/   the guides; libsimgpu/: an example
#   share/bash-completion/, share/zsh/    completion of the grader's commands and options
# The programs never write there. RECORD=no leaves the toolkit out, for a package that goes to other
# machines.
set -eu
umask 022
build=$1 prefix=$2 top=${3:-} what=${4:-install}
cd "$(dirname "$0")/.."

fail() { echo "install: $*" >&2; exit 1; }
case $prefix in
    /*) prefix=${prefix%/} ;;
    *) fail "PREFIX is $prefix; it must be an absolute path" ;;
esac
to=$top$prefix
share=$to/share/warpbook

# Removes the listed files, then the folders that are now empty, deepest first.
uninstall() {
    [ -f "$share/files" ] || fail "nothing is installed in $to"
    (cd "$to" && while IFS= read -r file; do rm -f -- "$file"; done <share/warpbook/files)
    rm -f "$share/files"
    for folder in share/warpbook share/doc/warpbook lib/warpbook libexec/warpbook; do
        if [ -d "$to/$folder" ]; then find "$to/$folder" -depth -type d -empty -delete; fi
    done
    for folder in bin include lib/pkgconfig lib libexec share/man/man1 share/man share/doc share/bash-completion/completions share/bash-completion \
        share/zsh/site-functions share/zsh share; do rmdir "$to/$folder" 2>/dev/null || true; done
}
if [ "$what" = uninstall ]; then uninstall; exit 0; fi

# Submissions may read the system folders that the compiler needs; the solutions must not be there.
case $prefix/ in
    /usr/lib* | /usr/bin* | /usr/include* | /lib* | /bin*) fail "PREFIX is $prefix, which submissions may read; choose another" ;;
esac
[ -x "$build/grader" ] || fail "there is no $build/grader; run make first"
if [ -f "$share/files" ]; then uninstall; fi # an older version may have files that this one lacks

list=$build/install.list
: >"$list"
put() { # put MODE FROM TO
    mkdir -p "$to/$(dirname "$3")"
    rm -f "$to/$3" # a running program keeps its old file
    cp "$2" "$to/$3"
    chmod "$1" "$to/$3"
    printf '%s\n' "$3" >>"$list"
}
# program FROM TO: installs a program without its debug information.
program() {
    strip -o "$build/install.stripped" "$1"
    put 755 "$build/install.stripped" "$2"
    rm -f "$build/install.stripped"
}
its_git() { git -c safe.directory='*' "$@"; } # root may install another user's build
# Prints the files of a folder that git tracks; without git, all but hidden files and backups.
tracked() {
    if [ -e .git ]; then its_git ls-files "$@"
    else find "$@" -type f ! -name '.*' ! -name '*.bak-*'
    fi | LC_ALL=C sort
}
# Prints the file to install: for a starter file that somebody edited, the original
# (grader/book/original_starter.c).
pristine() {
    rm -f "$build/install.skeleton"
    case $1 in
        chapters/*/*/*) ;;
        chapters/*.cu)
            if ! its_git cat-file blob "HEAD:$1" >"$build/install.skeleton" 2>/dev/null; then
                rm -f "$build/install.skeleton"
                if [ -f "$build/pristine/${1#chapters/}" ]; then cp "$build/pristine/${1#chapters/}" "$build/install.skeleton"; fi
            fi ;;
    esac
    if [ -f "$build/install.skeleton" ]; then echo "$build/install.skeleton"; else echo "$1"; fi
}

program "$build/grader" bin/grader
for shell in bash:share/bash-completion/completions/grader zsh:share/zsh/site-functions/_grader; do
    if "$build/grader" completion "${shell%%:*}" >"$build/install.completion"; then
        put 644 "$build/install.completion" "${shell#*:}"
    fi
    rm -f "$build/install.completion"
done
program "$build/simgpu" bin/simgpu
program "$build/libexec/device" libexec/warpbook/device
program "$build/libexec/hostproc" libexec/warpbook/hostproc
program "$build/libexec/trim_headers" libexec/warpbook/trim_headers
for library in libwbcudart.a libwbcublas.a libwbcusparse.a libwbcufft.a libwbcurand.a; do put 644 "$build/lib/$library" lib/warpbook/$library; done
strip -g -o "$build/install.stripped" "$build/lib/libsimgpu.a"
put 644 "$build/install.stripped" lib/libsimgpu.a
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$(sh grader/version.sh | cut -d' ' -f1)|" \
    -e "s|@LIBRARIES@|$(cat "$build/deps/md")|" grader/libsimgpu/simgpu.pc.in >"$build/install.stripped"
put 644 "$build/install.stripped" lib/pkgconfig/simgpu.pc
rm -f "$build/install.stripped"
put 644 grader/libsimgpu/simgpu.h include/simgpu.h
put 644 grader/simgpu/simgpu.1 share/man/man1/simgpu.1
for file in example.c sum.cu; do put 644 grader/libsimgpu/example/$file share/doc/warpbook/libsimgpu/$file; done
folders="chapters common"
for folder in solutions grader/vendor grader/serve/app grader/editor grader/notebook; do if [ -d $folder ]; then folders="$folders $folder"; fi; done
# shellcheck disable=SC2086
tracked $folders | while IFS= read -r file; do
    case $file in
        *_test.c | common/*.c | *.vary | chapters/*.def | chapters/variants.txt) continue ;;
    esac
    put 644 "$(pristine "$file")" "share/warpbook/$file"
done
rm -f "$build/install.skeleton"
tracked docs README.md LICENSE | grep -v '^docs/results/' | while IFS= read -r file; do put 644 "$file" "share/doc/warpbook/${file#docs/}"; done
put 755 grader/template/slurm.sh share/warpbook/grader/template/slurm.sh
put 644 grader/template/kubernetes.yaml share/warpbook/grader/template/kubernetes.yaml

{
    known=$(sh grader/version.sh)
    echo "warpbook ${known% *}"
    toolkit=$(readlink -f "$build/cuda" || true)
    case ${RECORD:-yes}-$toolkit in
        no-* | *-) ;;
        *-"$(readlink -f "$build")"/*) # wheels that setup fetched
            mkdir -p "$to/lib/warpbook/cuda"
            cp -R "$toolkit/." "$to/lib/warpbook/cuda/"
            (cd "$to" && find lib/warpbook/cuda ! -type d) >>"$list"
            echo "toolkit $prefix/lib/warpbook/cuda" ;;
        *) echo "toolkit $toolkit" ;;
    esac
} >"$build/install.installed"
put 644 "$build/install.installed" share/warpbook/installed
rm -f "$build/install.installed"
put 644 "$list" share/warpbook/files
rm -f "$list"
echo "install: grader and simgpu are in $to/bin"
