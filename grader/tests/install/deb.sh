#!/bin/sh
# deb.sh [ROOT] — `make check-deb`: tests the package in a fresh Debian, as an ordinary user. ROOT is made by `debootstrap --variant=minbase
# bookworm ROOT`, and the script changes it. Without ROOT, debootstrap makes one. This build's toolkit appears there as /usr/local/cuda.
# With STEPS=1, builds and installs the package there from the sources, as the containers do (grader/template/container.sh). Requires
# root and Debian's mirror.
set -eu
tree=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "$tree" && cd "${BUILD:-build}" && pwd)
[ "$(id -u)" = 0 ] || { echo "skipped: check-deb wants root"; exit 0; }
top=$(mktemp -d /tmp/warpbook-deb.XXXXXX)
trap 'rm -rf --one-file-system "$top"' EXIT
root=${1:-$top/root}
if [ ! -x "$root/bin/sh" ]; then debootstrap --variant=minbase bookworm "$root" >"$top/log" 2>&1 || { tail "$top/log" >&2; exit 1; }; fi
mkdir -p "$root/usr/local/cuda" "$root/old" "$root/tmp/package"
[ -e "$root/etc/resolv.conf" ] || cp /etc/resolv.conf "$root/etc/resolv.conf"
exercises=$(find "$tree/chapters" -name '*_test.c' | wc -l)
failures=0
wrong() { echo "FAIL $*" >&2; failures=$((failures + 1)); }

# inside COMMAND: runs it with ROOT as its root, but not by chroot, which forbids namespaces. Its mounts end with it.
inside() {
    # shellcheck disable=SC2016
    unshare -m -p -f --kill-child sh -c 'set -e
        mount --make-rprivate / && mount --bind "$1" "$1" && mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc"
        mount --rbind /sys "$1/sys" && mount --bind "$2" "$1/usr/local/cuda"
        cd "$1" && pivot_root . old && umount -l /old && exec env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive sh -c "$3"' \
        sh "$root" "$(readlink -f "$build/cuda")" "$1"
}
user() { inside "exec setpriv --reuid=student --regid=student --init-groups env HOME=/home/student sh -c 'cd && $1'"; }
says() { # says WHAT PATTERN STATUS COMMAND, as the user
    status=0
    user "$4" >"$top/said" 2>&1 || status=$?
    if [ "$status" = "$3" ] && grep -q -- "$2" "$top/said"; then echo "ok $1"; else wrong "$1: status $status" && head -n 20 "$top/said" >&2; fi
}

if [ "${STEPS:-}" ]; then
    rm -rf "$root/warpbook" && mkdir "$root/warpbook"
    (cd "$tree" && git -c safe.directory='*' archive HEAD) | tar -xf - -C "$root/warpbook"
    sh "$tree/grader/version.sh" >"$root/warpbook/grader/version"
    inside 'cd /warpbook && sh grader/template/container.sh build && sh grader/template/container.sh install && cd / && rm -rf warpbook' >"$top/log" 2>&1 ||
        { tail -n 20 "$top/log" >&2; echo "FAIL the steps of the containers" >&2; exit 1; }
    echo "ok the steps of the containers"
else
    (cd "$tree" && sh grader/deb.sh "$build") >"$top/name"
    cp "$(cat "$top/name")" "$root/tmp/package/warpbook.deb"
    inside 'apt-get update -qq && apt-get install -y -qq --no-install-recommends /tmp/package/warpbook.deb' >"$top/log" 2>&1 ||
        { tail -n 20 "$top/log" >&2; echo "FAIL the package does not install" >&2; exit 1; }
    echo "ok the package installs, with what it depends on"
fi
inside 'id student >/dev/null 2>&1 || useradd --create-home student'
says "nothing but the package is there" '^none$' 0 'ls -d /warpbook /work 2>/dev/null || echo none'
says "begin" "^work: $exercises exercises" 0 'rm -rf work && grader begin work'
says "list" "0 of $exercises done" 0 'cd work && grader list'
says "run" 'not started' 1 'cd work && grader run transpose'
says "the solution" 'AC (accepted)  100' 0 'cd work && grader solution transpose > chapters/02-coalescing/transpose.cu && grader run transpose'
sed -n 3p "$top/said"
says "a program" 'sectors' 0 'simgpu nvcc work/chapters/02-coalescing/quiz/sectors.cu -o sectors && simgpu run --counters text ./sectors 2>&1'
says "no submission reads the solutions, which lie in /usr/share" 'No such file' 1 \
    'echo "#include \"/usr/share/warpbook/solutions/02-coalescing/transpose.cu\"" > x.cu && grader run transpose --file x.cu'
says "without a compiler it says what to do" 'Install the CUDA Toolkit' 3 \
    'cd work && XDG_CACHE_HOME=/home/student/empty unshare -rm sh -c "mount -t tmpfs none /usr/local/cuda && exec grader run transpose --no-jail"'
inside 'apt-get remove -y -qq warpbook' >"$top/log" 2>&1 || wrong "apt-get remove"
left=$(find "$root/usr/bin/grader" "$root/usr/share/warpbook" "$root/usr/libexec/warpbook" 2>/dev/null || true)
[ -z "$left" ] || wrong "removed, it leaves $left"
[ "$failures" = 0 ] || { echo "$failures failures" >&2; exit 1; }
echo "check-deb: 0 failures"
