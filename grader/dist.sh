#!/bin/sh
# dist.sh BUILD [student [EXERCISE…]]: makes BUILD/warpbook-VERSION.tar.gz for `make dist`. It has
# the tree of the last commit, or without git the tree as it was unpacked. The same tree gives the
# same bytes: sorted names, no owner, the commit's time. The tar builds without git, because
# grader/version has its version.
#
# `student` makes BUILD/warpbook-student-VERSION.tar.gz: without solutions, ladders, variants, mutants
# and other tests, but with the baseline data that scores need (grader/grade/baseline_data.h), which
# BUILD/grader computes. Name some exercises for a quick try.
set -eu
build=$1 kind=${2:-}
shift
if [ $# -gt 0 ]; then shift; fi
tree=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$build" && pwd)
cd "$tree"

its_git() { git -c safe.directory='*' "$@"; }
known=$(sh grader/version.sh)
version=${known% *} seconds=${known#* }
if [ -e .git ] && [ -n "$(its_git status --porcelain --untracked-files=no)" ]; then echo "dist: uncommitted changes are left out" >&2; fi

name=warpbook${kind:+-$kind}-$version
stage=$build/dist
rm -rf "$stage"
mkdir -p "$stage/$name"
trap 'rm -rf "$stage"' EXIT
if [ -e .git ]; then its_git archive --format=tar HEAD | tar -xf - -C "$stage/$name"
else tar -cf - --exclude=./build --exclude='*.bak-*' . | tar -xf - -C "$stage/$name"
fi
echo "$version $seconds" >"$stage/$name/grader/version"
if [ "$kind" = student ]; then
    [ -d solutions ] || { echo "dist: this tree is a student's release already" >&2; exit 1; }
    # Build BUILD/grader from the commit: other sources could model other times.
    "$build/grader" figures "$@" --output "$stage/$name/chapters/figures.txt"
    (cd "$stage/$name" && rm -rf solutions grader/tests grader/vendor grader/template/gradescope .ci docs/results chapters/*/*.vary chapters/variants.txt)
fi
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$seconds" --format=ustar \
    -C "$stage" -cf - "$name" | gzip -9n >"$build/$name.tar.gz.new"
mv "$build/$name.tar.gz.new" "$build/$name.tar.gz"
echo "$build/$name.tar.gz"
