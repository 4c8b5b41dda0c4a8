#!/bin/sh
# check.sh — `make check-install`: an installation works for a user who can't write to it, with the source tree hidden, and uninstalls
# completely. It installs below its own folder. Run it as root: it needs the user `nobody`, and a mount namespace to hide the tree.
set -eu
tree=$(cd "$(dirname "$0")/../../.." && pwd)
build=${BUILD:-build}
[ "$(id -u)" = 0 ] || { echo "skipped: check-install wants root, for another user and to hide the source tree"; exit 0; }
for tool in unshare setpriv; do command -v $tool >/dev/null || { echo "skipped: check-install wants $tool"; exit 0; }; done
top=$(mktemp -d /tmp/warpbook-install.XXXXXX)
trap 'rm -rf "$top"' EXIT
chmod 755 "$top"
mkdir "$top/home" "$top/other"
chown nobody "$top/home"
exercises=$(find "$tree/chapters" -name '*_test.c' | wc -l)
failures=0
wrong() { echo "FAIL $*" >&2; failures=$((failures + 1)); }

(cd "$tree" && sh grader/install.sh "$build" /usr/local "$top/root" >/dev/null) || { echo "FAIL install"; exit 1; }
bin=$top/root/usr/local/bin
sums() { (cd "$top/root" && find . -type f -exec sha256sum {} + && find . ! -type f) | LC_ALL=C sort; }
sums >"$top/before"

# user COMMAND: runs it as nobody, with a separate home, the tree hidden.
user() {
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' sh "$tree" \
        setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups \
        env -i HOME="$top/home" PATH="$bin:/usr/bin:/bin" LC_ALL=C.UTF-8 sh -c "cd ~ && $1"
}
# says WHAT PATTERN STATUS COMMAND: requires that the command ends with that status and its output has the pattern.
says() {
    status=0
    user "$4" >"$top/said" 2>&1 || status=$?
    if [ "$status" != "$3" ]; then wrong "$1: status $status instead of $3:" && head -n 20 "$top/said" >&2
    elif ! grep -q -- "$2" "$top/said"; then wrong "$1: does not say '$2':" && head -n 20 "$top/said" >&2
    else echo "ok $1"; fi
}

says "outside of a folder of one's own, the grader says to begin" 'grader begin DIR' 2 'grader list'
says "begin makes a folder" "^work: $exercises exercises; files: [0-9]* added" 0 'grader begin work'
says "it contains no test and no solution" '^0$' 0 "find work -name '*_test.c' -o -name '*-1-*' -o -name '*ladder*' | wc -l"
says "begin refuses a folder that holds other things" 'is not empty' 2 'mkdir full && touch full/x && grader begin full'
says "list, in a folder below" "0 of $exercises done" 0 'cd work/chapters/02-coalescing && grader list'
says "a hint" 'Hint 1 of' 0 'cd work && grader hint transpose'
says "run of a skeleton, which knows it for one" 'not started' 1 'cd work && grader run transpose'
says "it names commands as they are typed here" '  next  *grader profile transpose' 1 'cd work && grader run transpose'
says "the model solution passes in the student's folder" 'AC (accepted)  100' 0 \
    'cd work && grader solution transpose > chapters/02-coalescing/transpose.cu && grader run transpose'
says "and list has it done" 'transpose  *done' 0 'cd work && grader list'
says "begin again keeps what was changed" '1 kept as you changed them' 0 'cd work && rm chapters/02-coalescing/README.md && grader begin .'
says "and adds what is missing" '^ok$' 0 'cd work && test -s chapters/02-coalescing/README.md && cmp -s chapters/02-coalescing/transpose.cu chapters/02-coalescing/vector_loads.cu || echo ok'
says "reset takes the skeleton of the book" 'is the starter file again' 0 'cd work && grader reset transpose && test -f chapters/02-coalescing/transpose.cu.bak-1'
says "a page, beside the files" '/home/work/reports/vector_loads.html' 1 'cd work && grader report vector_loads && test -s reports/vector_loads.html'
says "a question that is counted" 'right\|wrong' 0 'cd work && grader quiz 02 --answers 8,5,4,12,c || true'
says "watch grades, until it is interrupted" 'watching' 0 'cd work && timeout -s INT --preserve-status 20 grader watch transpose'
says "state and cache lie where XDG has them, for this user alone" '^700 700$' 0 \
    'echo $(stat -c %a .local/state/warpbook .cache/warpbook)'
says "a cache that others may write to is not read" 'only you can write to' 2 \
    'mkdir -p open/warpbook && chmod 777 open/warpbook && cd work && XDG_CACHE_HOME=$HOME/open grader quiz 02 --answers 8,5,4,12,c'
says "a program of one's own" 'sectors' 0 \
    'simgpu nvcc work/chapters/02-coalescing/quiz/sectors.cu -o sectors && simgpu run --counters text ./sectors 2>&1'
# The library's example, as its comment says.
sed "s|^prefix=.*|prefix=$top/root/usr/local|" "$top/root/usr/local/lib/pkgconfig/simgpu.pc" >"$top/other/simgpu.pc"
export_flags=$(PKG_CONFIG_PATH=$top/other pkg-config --cflags --libs --static simgpu)
example=$top/root/usr/local/share/doc/warpbook/libsimgpu
nvcc=$(readlink -f "$tree/$build/cuda")/bin/nvcc
says "a program of one's own links the simulator" 'data race within a block' 0 \
    "$nvcc -ptx -lineinfo -arch=compute_90 $example/sum.cu -o sum.ptx && cc $example/example.c $export_flags -o example && ./example sum.ptx"
if command -v man >/dev/null; then
    says "simgpu has a manual page" 'NAME' 0 "man -l $top/root/usr/local/share/man/man1/simgpu.1 | cat"
fi
says "a class" 'alice' 1 'mkdir -p class/alice && cp work/chapters/02-coalescing/transpose.cu class/alice && grader batch class --exercise transpose --format csv'
cat >"$top/other/hw.toml" <<'END'
seed = "s"
[[exercise]]
name = "transpose"
hidden = "cases.c"
END
printf '#include "common/exercise_hidden.h"\nEX_HIDDEN({{40, 50}})\n' >"$top/other/cases.c"
chmod -R a+rX "$top/other"
says "hidden cases compile against the headers that are installed" 'alice.*transpose' 1 "grader batch class --assignment $top/other/hw.toml --format csv"
says "a compiler that is not there is said" 'CUDA_HOME is /nowhere' 3 'cd work && CUDA_HOME=/nowhere XDG_CACHE_HOME=$HOME/empty grader run transpose'
says "what works on sources says so" 'needs the source tree' 2 'grader verify transpose'
says "nothing can be written there" '^no$' 0 "touch $bin/x 2>/dev/null || echo no"

# The grader doesn't use another user's folder.
(cd "$top/other" && printf 'warpbook 1 0123456789abcdef\n' >.warpbook && chmod -R a+rX .)
says "another user's folder is passed by" 'belongs to another user' 2 "cd $top/other && grader list"

# If the book is below a folder that the sandboxed compiler sees, submissions could include it: here below the toolkit, as with CUDA_HOME=/usr.
kit=$top/kit
mkdir "$kit"
for part in "$(readlink -f "$tree/$build/cuda")"/*; do ln -s "$part" "$kit"; done
cp -R "$top/root/usr/local" "$kit/warpbook"
says "a book that submissions may read is refused" 'the book lies in' 3 "cd work && CUDA_HOME=$kit $kit/warpbook/bin/grader run transpose"
if (cd "$tree" && sh grader/install.sh "$build" /usr/lib/warpbook "$top/lib") >/dev/null 2>&1; then wrong "it installs below /usr/lib"; fi

sums >"$top/after"
cmp -s "$top/before" "$top/after" || { wrong "something changed below PREFIX:"; diff "$top/before" "$top/after" | head >&2; }
(cd "$tree" && sh grader/install.sh "$build" /usr/local "$top/root" uninstall) || wrong "uninstall"
left=$(find "$top/root" ! -type d)
[ -z "$left" ] || wrong "uninstall leaves $left"
[ ! -d "$top/root/usr/local/share" ] || wrong "uninstall leaves folders: $(find "$top/root")"
[ "$failures" = 0 ] || { echo "$failures failures" >&2; exit 1; }
echo "check-install: 0 failures"
