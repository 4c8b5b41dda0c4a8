#!/bin/sh
# container.sh build|install — the steps of a container's image, for Dockerfile and warpbook.def beside it, run as root in the tree's root on
# a Debian. `build` makes the package: what is missing comes from the one list, grader/packages.txt, through make. `install` installs that
# package, with what it depends on, and the compiler's wheels where `build` had to fetch them.
set -eu
export DEBIAN_FRONTEND=noninteractive
case ${1:-} in
    build)
        apt-get update -qq
        tools=$(sh grader/setup.sh names apt deb)
        # shellcheck disable=SC2086
        apt-get install -y -qq --no-install-recommends make $tools
        make all
        make deb
        ;;
    install)
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends ./build/warpbook_*.deb
        if [ -d build/toolkit/cuda ]; then cp -R build/toolkit/cuda /usr/local/cuda; fi
        grader --version
        rm -rf /var/lib/apt/lists/*
        ;;
    *) echo "usage: container.sh build|install" >&2 && exit 2 ;;
esac
