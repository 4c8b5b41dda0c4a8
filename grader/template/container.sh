#!/bin/sh
# container.sh build|install — builds the image of a container for Dockerfile and warpbook.def, as
# root, in the tree's root, on Debian. `build` makes the Debian package; make installs what that
# needs (grader/packages.txt). `install` installs the package with its dependencies, and the
# compiler's wheels if `build` fetched them.
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
        apt-get install -y -qq --no-install-recommends ./build/warpbook_*.deb libpq-dev
        if [ -d build/toolkit/cuda ]; then cp -R build/toolkit/cuda /usr/local/cuda; fi
        grader --version
        rm -rf /var/lib/apt/lists/*
        ;;
    *) echo "usage: container.sh build|install" >&2 && exit 2 ;;
esac
