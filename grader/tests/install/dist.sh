#!/bin/sh
# dist.sh — `make check-dist`: the tar is the same from git and from itself; a student's release builds without git, contains no solution,
# and gives the full tree's scores for five exercises: solutions, starter files and steps. RELEASE=FOLDER, of an unpacked
# and built release, runs only the last part.
set -eu
tree=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "$tree" && cd "${BUILD:-build}" && pwd)
top=$(mktemp -d /tmp/warpbook-dist.XXXXXX)
trap 'rm -rf "$top"' EXIT
failures=0
wrong() { echo "FAIL $*" >&2; failures=$((failures + 1)); }
ok() { echo "ok $*"; }

exercises="vector_add transpose window_sum histogram axpb_relu"
tars() {
    first=$(cd "$tree" && sh grader/dist.sh "$build" 2>/dev/null)
    tar -xzf "$first" -C "$top"
    full=$(echo "$top"/warpbook-*)
    mkdir "$top/again"
    second=$(cd "$full" && sh grader/dist.sh "$top/again")
    if cmp -s "$first" "$second"; then ok "the tar of the tar's tree is the same"; else wrong "$second differs from $first"; fi
    for file in Makefile README.md LICENSE chapters/02-coalescing/transpose.cu grader/tests/layers.def; do
        [ -f "$full/$file" ] || wrong "$file is not in $first"
    done
    make -C "$full" -n check-format 2>/dev/null | grep -q 'common/buf\.c' || wrong "without git, make check-format looks at no file"
    if tar -tvzf "$first" | grep -v ' 0/0 '; then wrong "an owner is told"; fi
}
release() {
    # shellcheck disable=SC2086
    release=$(cd "$tree" && sh grader/dist.sh "$build" student $exercises 2>/dev/null)
    mkdir "$top/s"
    tar -xzf "$release" -C "$top/s"
    student=$(echo "$top"/s/warpbook-student-*)
    [ ! -e "$student/solutions" ] && [ ! -e "$student/grader/tests" ] || wrong "solutions or mutants are in $release"
    # No file of the release is a solution or a step, under any name.
    (cd "$tree/solutions" && find . -name '*.cu' -exec sha256sum {} +) | cut -c1-64 | sort >"$top/solutions"
    (cd "$student" && find . -type f -exec sha256sum {} +) | cut -c1-64 | sort >"$top/files"
    (cd "$tree/chapters" && find . -name '*.cu' -exec sha256sum {} +) | cut -c1-64 | sort >"$top/skeletons"
    same=$(comm -12 "$top/solutions" "$top/files" | comm -23 - "$top/skeletons" | wc -l)
    if [ "$same" = 0 ]; then ok "no file of it is a solution or a step"; else wrong "$same files of $release are solutions or steps"; fi
    mkdir "$student/build"
    # Set-up runs as on a student's machine, but finds this build's tools, so that it doesn't fetch them again.
    [ ! -d "$build/disassembler" ] || cp -R "$build/disassembler" "$student/build/"
    PATH="$build/cuda/bin:$PATH" make -C "$student" >"$top/make.log" 2>&1 || { tail "$top/make.log" >&2; wrong "the release does not build"; exit 1; }
    ok "the release builds without git"
}
if [ "${RELEASE:-}" ]; then student=$RELEASE
else tars && release
fi

# Equal except for the grader's version.
scores() { python3 -c '
import json, sys
for x in json.load(sys.stdin)["exercises"]:
    s = x["speed"]
    print(x["id"], x["verdict"], x["score"], s and [s.get(k) for k in ("student_us", "solution_us", "baseline_us", "vs_solution", "note")], x["missing"], [(t["metric"], t.get("naive"), t.get("way")) for t in x["technique"]])'; }
count=0
for name in $exercises; do
    for file in "$tree"/solutions/*/"$name".cu "$tree"/solutions/*/"$name"-[12]-*.cu "$tree"/chapters/*/"$name".cu; do
        for device in sim:h200 sim:t4; do
            base=$(basename "$file")
            cp "$file" "$top/$name.cu" # one name: messages have it
            (cd "$tree" && "$build/grader" run "$name" --file "$top/$name.cu" --seed s --device $device --format json || [ $? = 1 ]) | scores >"$top/a"
            (cd "$student" && build/grader run "$name" --file "$top/$name.cu" --seed s --device $device --format json || [ $? = 1 ]) | scores >"$top/b"
            [ -s "$top/a" ] || wrong "$base: no result"
            cmp -s "$top/a" "$top/b" || { wrong "$base on $device differs:"; diff "$top/a" "$top/b" >&2 || true; }
            count=$((count + 1))
        done
    done
done
[ "$failures" = 0 ] && ok "$count results, scores, times and ways to goals are the full tree's"
says() { # says PATTERN STATUS COMMAND…: in the release
    pattern=$1 status=$2 got=0
    shift 2
    (cd "$student" && "$@") >"$top/said" 2>&1 || got=$?
    if [ $got = "$status" ] && grep -q "$pattern" "$top/said"; then ok "$*: $pattern"; else wrong "$*: status $got" && head -5 "$top/said" >&2; fi
}
says 'needs the model solutions' 2 build/grader solution transpose
says 'needs the model solutions' 2 build/grader verify transpose
says 'Hint 1 of' 0 build/grader hint transpose
says 'which this release leaves out' 1 build/grader report transpose
says 'nor its figures' 3 build/grader run vector_loads
sed -i 's/^nvcc .*/nvcc 12.4.131/' "$student/chapters/figures.txt"
says 'figures.txt is damaged' 3 build/grader run transpose
digest=$(sed '$d' "$student/chapters/figures.txt" | sha256sum | cut -c1-64)
sed -i "\$s/.*/end $digest/" "$student/chapters/figures.txt"
says 'recorded with nvcc 12.4.131' 1 build/grader run transpose
[ "$failures" = 0 ] || { echo "$failures failures" >&2; exit 1; }
echo "check-dist: 0 failures"
