#!/bin/sh
# vary.sh TREE BUILD DIR EXERCISE…: completes DIR, into which `grader vary` wrote the changed files
# of the exercises, to a copy of the tree; builds it there; and checks that each variant's starter
# file and model solution keep the book's rules and that the original solution is wrong. For a copy
# for some students of a class, it does the same with the solutions of the copies before it.
set -eu
tree=$1 build=$2
dir=$(cd "$3" && pwd)
shift 3
say() { echo "vary: $*"; }

# refuse COPY EXERCISE FILE NAME: the file, NAME's solution, must not be correct in the copy.
refuse() {
    status=0
    "$1/build/grader" run "$2" --file "$3" >build/vary.log 2>&1 || status=$?
    if [ $status != 1 ] || sed -n 1p build/vary.log | grep -Eq ' (AC|PART) '; then
        say "the solution of $4 is not refused: $(sed -n 1p build/vary.log)" >&2
        exit 1
    fi
    say "the solution of $4: $(sed -n 1p build/vary.log)"
}

# The files that git knows, or in an unpacked tar all but the build; a changed file stays.
cd "$tree"
if [ -e .git ]; then git -c safe.directory='*' ls-files -z; else find . -path ./build -prune -o -type f -print0; fi |
    tar --null -T - -cf - | tar -xf - --skip-old-files -C "$dir"
sh grader/version.sh >"$dir/grader/version"
# The objects, so that only the variant's are compiled. Results, caches and the copies of the
# original starter files stay behind.
mkdir -p "$dir/build"
for part in "$build"/*; do
    case ${part##*/} in
        cache | progress | pristine | site | book | slides | tests | fuzz | roots | *.tar.xz) ;;
        *) cp -a "$part" "$dir/build/" ;;
    esac
done
find "$dir/build" -name '*.d' -exec sed -i "s#$tree/#$dir/#g" {} +
# Recorded results are of the original.
for exercise in "$@"; do sed -i "\\#^[a-z]* $exercise #d" "$dir/chapters/figures.txt"; done

cd "$dir"
say "building in $dir"
make --no-print-directory all >build/vary.log 2>&1 || { tail -n 20 build/vary.log >&2; exit 1; }
for exercise in "$@"; do
    say "verifying $exercise"
    # The ladder's table of counters stays that of the original, so the rule about it can't hold.
    status=0
    build/grader verify "$exercise" --quick --working-tree >build/vary.log 2>&1 || status=$?
    broken=$(sed '1,/^[0-9]* rules* broken:$/d' build/vary.log | grep -v 'its ladder publishes' || true)
    if [ $status -gt 1 ] || [ "$broken" ] || { [ $status = 1 ] && ! grep -q 'broken:$' build/vary.log; }; then
        tail -n 40 build/vary.log >&2
        exit 1
    fi
    sed -n '1,2p' build/vary.log
    refuse . "$exercise" "$tree/solutions/$exercise.cu" "the original exercise"
    # A copy for some students of a class: the copies before it are complete.
    number=$(sed -n 's/^copy \([0-9]*\) of .*/\1/p' chapters/variants.txt)
    other=1
    while [ "$other" -lt "${number:-0}" ]; do
        refuse . "$exercise" "../$other/solutions/$exercise.cu" "variant $other"
        refuse "../$other" "$exercise" "solutions/$exercise.cu" "variant $number in variant $other"
        other=$((other + 1))
    done
done
