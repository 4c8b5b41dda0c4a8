#!/bin/bash
# record.sh OUT [KIND...] — grades every version of the book with build/grader and writes what it says
# to OUT/NAME.KIND, for compare.py. KIND: json, text or profile; without one, all three. Outputs that
# OUT has already are kept, so an interrupted run goes on. Run it in the root of a built tree.
set -u
out=${1:?usage: record.sh OUT [KIND...]}
shift
kinds=${*:-json text profile}
mkdir -p "$out"
for file in chapters/*/*.cu solutions/*/*.cu; do
    chapter=$(basename "$(dirname "$file")")
    exercise=$(basename "$file" .cu)
    exercise=${exercise%%-[0-9]*} # the steps of a ladder are EXERCISE-1-NAME.cu
    while [ ! -e "chapters/$chapter/$exercise.cu" ] && [ "$exercise" != "${exercise%-*}" ]; do
        exercise=${exercise%-*}
    done
    for kind in $kinds; do
        to=$out/$(basename "$file" .cu)@$chapter-${file%%/*}.$kind
        [ -s "$to" ] && continue
        case $kind in
        json) command="run $chapter/$exercise --format json" ;;
        text) command="run $chapter/$exercise" ;;
        profile) command="profile $chapter/$exercise --all" ;;
        *) echo "record.sh: unknown kind '$kind'" >&2; exit 2 ;;
        esac
        # shellcheck disable=SC2086
        build/grader $command --file "$file" --device sim:h100 --seed compare >"$to.tmp" 2>"$to.errors"
        status=$?
        { cat "$to.tmp"; [ "$kind" = json ] || cat "$to.errors"; echo "exit $status"; } >"$to"
        rm -f "$to.tmp" "$to.errors"
    done
done
