#!/bin/sh
# vary.sh TREE BUILD DIR EXERCISE…: completes DIR, into which `grader vary` wrote the changed files
# of the exercises, to a copy of the tree; builds it there; and checks that each variant's starter
# file and model solution keep the book's rules and that the original solution does not pass.
set -eu
tree=$1 build=$2
dir=$(cd "$3" && pwd)
shift 3
say() { echo "vary: $*"; }

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
        cache | progress | pristine | site | book | slides | tests | roots | carry.*) ;;
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
    if build/grader run "$exercise" --file "$tree/solutions/$exercise.cu" >build/vary.log 2>&1; then
        say "the solution of the original exercise passes the variant" >&2
        exit 1
    fi
    say "the solution of the original exercise: $(sed -n 1p build/vary.log)"
done
