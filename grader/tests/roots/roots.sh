#!/bin/sh
# roots.sh FOLDER [SUITE…]: runs the README's two commands in fresh roots of Debian and Ubuntu, as root with and without a network, and
# as a user without sudo; then set-up on systems that claim to be Fedora or an unknown one; in Ubuntu's also the packages
# for Gradescope, GitHub Classroom, Autolab and nbgrader. The suites are bookworm, trixie, jammy
# (Ubuntu 22.04) and noble (24.04) if none is named. Requires root, debootstrap and a network; takes some minutes per suite. FOLDER keeps
# the fresh roots as archives, and the output.
set -eu
work=$1
shift
[ $# != 0 ] || set -- bookworm trixie jammy noble
[ "$(id -u)" = 0 ] || { echo "roots.sh: needs root, for chroot" >&2; exit 1; }
mkdir -p "$work"
work=$(cd "$work" && pwd)
root=$work/root
bad=0

bootstrap() { # SUITE: a root of Debian or Ubuntu. A debootstrap that is older than an Ubuntu release lacks its script; all are the same.
    case $1 in
    jammy | noble) debootstrap --variant=minbase --components=main,universe "$1" "$root" http://archive.ubuntu.com/ubuntu gutsy ;;
    *) debootstrap --variant=minbase "$1" "$root" ;;
    esac
}

fresh() { # SUITE: an unpacked root with the tree in it
    rm -rf --one-file-system "$root"
    [ -f "$work/$1.tar" ] || {
        bootstrap "$1" >"$work/debootstrap.log" || { tail -n 3 "$work/debootstrap.log" >&2 && exit 1; }
        tar cf "$work/$1.tar" -C "$root" .
        rm -rf --one-file-system "$root"
    }
    mkdir -p "$root/warpbook"
    tar xf "$work/$1.tar" -C "$root"
    git ls-files -co --exclude-standard | tar c -T - | tar x -C "$root/warpbook"
    chmod -R a+rwX "$root/warpbook"
    cp -L /etc/resolv.conf "$root/etc/"
    [ -z "${PIP_CERT:-}" ] || cp -L "$PIP_CERT" "$root/etc/pip.crt"
}

# within USER NETWORK COMMAND: runs it in separate mount and process namespaces, so that nothing stays mounted.
within() {
    options="-m -p -f --mount-proc=$root/proc"
    [ "$2" = network ] || options="$options -n"
    # shellcheck disable=SC2016,SC2086 # the inner shell expands; options are words
    unshare $options sh -c 'mount --rbind /dev "$1/dev" && exec chroot --userspec="$2" "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/tmp ${4:+PIP_CERT=/etc/pip.crt} sh -c "cd /warpbook && $3"' - "$root" "$1" "$3" "${PIP_CERT:-}"
}

# expect NAME TEXT: requires that the output contains the text
expect() {
    if grep -q -e "$2" "$work/$1.log"; then echo "roots: $1: ok"; else
        echo "roots: $1: \"$2\" is not in $work/$1.log" && bad=1
    fi
}

# expect_not NAME TEXT: requires that the output doesn't contain the text
expect_not() {
    if ! grep -q -e "$2" "$work/$1.log"; then echo "roots: $1: ok"; else
        echo "roots: $1: \"$2\" is in $work/$1.log" && bad=1
    fi
}

# asks_as SUITE ID TEXT: requires that set-up prints TEXT on a system that claims to be ID
asks_as() {
    echo "ID=$2" >"$root/usr/lib/os-release"
    within 65534:65534 none 'sh grader/setup.sh build' >"$work/$1-as-$2.log" 2>&1 || true
    expect "$1-as-$2" "$3"
}

# on_musl SUITE: makes a root with only busybox and musl, both from Debian, which are Alpine's shell and C library
on_musl() {
    rm -rf "$work/musl"
    mkdir -p "$work/musl/dev" "$work/musl/bin" "$work/musl/lib" "$work/musl/warpbook/grader"
    within root network 'cd /tmp && apt-get update -qq && apt-get download -qq busybox-static musl' >"$work/$1-musl.log" 2>&1 || true
    for package in "$root"/tmp/busybox-static_*.deb "$root"/tmp/musl_*.deb; do dpkg-deb -x "$package" "$work/musl"; done
    # Debian 13 has both below usr. Another file of this name there is a hook of the initial ramdisk.
    [ ! -f "$work/musl/usr/bin/busybox" ] || mv "$work/musl/usr/bin/busybox" "$work/musl/bin/"
    find "$work/musl/usr" -name 'ld-musl-*.so.1' -exec cp -L {} "$work/musl/lib/" \;
    cp grader/setup.sh grader/packages.txt "$work/musl/warpbook/grader"
    mknod -m 666 "$work/musl/dev/null" c 1 3
    chroot "$work/musl" /bin/busybox --install -s /bin
    chroot "$work/musl" /bin/sh -c 'cd /warpbook && sh grader/setup.sh build' >"$work/$1-musl.log" 2>&1 || true
    expect "$1-musl" "C library is musl.*container of Debian"
    rm "$work"/musl/lib/ld-musl-* # and on a system whose shell alone is Alpine's
    chroot "$work/musl" /bin/sh -c 'cd /warpbook && sh grader/setup.sh build' >"$work/$1-busybox.log" 2>&1 || true
    expect "$1-busybox" 'missing here: .*jansson'
}

# packages_of SUITE: runs what Gradescope, GitHub Classroom, Autolab and nbgrader run, in a root that has been built: the package's own
# set-up, a submission of the model solution, and the file of points.
packages_of() {
    printf 'seed = "s"\n[[exercise]]\nname = "transpose"\n' >"$root/hw1.toml"
    within root network 'mkdir -p /autograder/source /autograder/submission && build/grader gradescope /hw1.toml --output /autograder.zip && \
        python3 -m zipfile -e /autograder.zip /autograder/source && sh /autograder/source/setup.sh && \
        cp solutions/02-coalescing/transpose.cu /autograder/submission && echo {} >/autograder/submission_metadata.json && \
        sh /autograder/source/run_autograder && python3 -c "import json; r = json.load(open(\"/autograder/results/results.json\")); \
        print(\"points\", round(sum(t[\"score\"] for t in r[\"tests\"]), 2))"' >"$work/$1-gradescope.log" 2>&1 || true
    expect "$1-gradescope" '^points 100'
    within root none 'build/grader run transpose --file solutions/02-coalescing/transpose.cu --format classroom --output /classroom.json && python3 -c \
        "import json; r = json.load(open(\"/classroom.json\")); print(r[\"status\"], sum(t[\"score\"] for t in r[\"tests\"]), r[\"max_score\"])"' \
        >"$work/$1-classroom.log" 2>&1 || true
    expect "$1-classroom" '^pass 100.0 100.0'
    within root none 'make install PREFIX=/usr && mkdir /autolab && cd /autolab && grader begin book && tar cf autograde.tar book && rm -rf book && \
        cp /warpbook/solutions/02-coalescing/transpose.cu . && make -f /warpbook/grader/template/autolab/autograde-Makefile' >"$work/$1-autolab.log" 2>&1 || true
    expect "$1-autolab" '^{"scores":{"transpose":100.0}}'
    within root none 'mkdir -p /nbgrader/submitted/ann/hw1 && cp solutions/02-coalescing/transpose.cu /nbgrader/submitted/ann/hw1 && \
        build/grader batch /nbgrader/submitted --exercise transpose --format nbgrader' >"$work/$1-nbgrader.log" 2>&1 || true
    expect "$1-nbgrader" '^"02-coalescing/transpose",,,"ann","",,,100.0,0.0,100.0,100.0'
}

for suite in "$@"; do
    fresh "$suite"
    within 65534:65534 network 'sh grader/setup.sh build' >"$work/$suite-user.log" 2>&1 || true
    expect "$suite-user" 'sudo apt-get install .*libjansson-dev .*python3-venv'
    expect "$suite-user" 'lists are old; run first:  sudo apt-get update'
    within root none 'sh grader/setup.sh build' >"$work/$suite-offline.log" 2>&1 || true
    expect "$suite-offline" 'apt-get install .*libjansson-dev'
    mv "$root/usr/bin/apt-get" "$root/usr/bin/apt-get.away"
    cp "$root/usr/lib/os-release" "$work/os-release"
    asks_as "$suite" fedora 'sudo dnf install .*jansson-devel .*python3'
    asks_as "$suite" void 'unknown package manager; if you have one of these'
    mv "$root/usr/bin/apt-get.away" "$root/usr/bin/apt-get"
    cp "$work/os-release" "$root/usr/lib/os-release"
    on_musl "$suite"
    within root network 'sh grader/setup.sh build && make && build/grader run transpose' >"$work/$suite-root.log" 2>&1 || true
    expect "$suite-root" 'correct    16 of 16 cases'
    expect_not "$suite-root" 'no PostgreSQL client library'
    expect_not "$suite-root" 'warning:'
    # Everything is installed now, so a user needs no rights and no network.
    within root none 'rm -rf build/grader build/deps build/setup.done && chmod -R a+rwX . && chown -R 65534:65534 .' >/dev/null
    within 65534:65534 none 'make && build/grader run transpose' >"$work/$suite-user-later.log" 2>&1 || true
    expect "$suite-user-later" 'correct    16 of 16 cases'
    case $suite in jammy | noble) packages_of "$suite" ;; esac
done
exit $bad
