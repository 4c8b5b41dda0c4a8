#!/bin/sh
# version.sh — prints the tree's "VERSION SECONDS": the time of the last commit; in a tar of
# grader/dist.sh, the content of grader/version; in any other tree, zeros.
cd "$(dirname "$0")/.." || exit 1
if [ -e .git ] && TZ=UTC git -c safe.directory='*' log -1 --format='%cd %ct' --date=format-local:%Y%m%d.%H%M 2>/dev/null; then exit 0; fi
cat grader/version 2>/dev/null || echo "0 0"
