#!/bin/sh
# version.sh — "VERSION SECONDS" of the tree around it: the time of the last commit; in a tar that grader/dist.sh made, what it wrote
# into grader/version; in a tree that knows neither, zeros.
cd "$(dirname "$0")/.." || exit 1
if [ -e .git ] && TZ=UTC git -c safe.directory='*' log -1 --format='%cd %ct' --date=format-local:%Y%m%d.%H%M 2>/dev/null; then exit 0; fi
cat grader/version 2>/dev/null || echo "0 0"
