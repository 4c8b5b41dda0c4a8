#!/bin/sh
# slurm.sh — grades a class under Slurm, with a job array.
#
# With a store in PostgreSQL, the tasks take submissions from it until none is left:
#
#   build/grader intake submissions/ --store postgresql://warpbook@db.example/hw1
#   sbatch --array=1-8 grader/template/slurm.sh postgresql://warpbook@db.example/hw1 [options of grader batch...]
#
# A killed task loses what it was grading; another task grades that again a minute later. Put the
# password in ~/.pgpass: other users can read command lines.
#
# Without a server, each task grades one shard into a store of its own:
#
#   sbatch --array=1-8 grader/template/slurm.sh submissions/ results/ [options of grader batch...]
#   build/grader merge hw1.db results/part-*.db            when all tasks are done
#
# Pass --seed then, or an assignment with a seed, because `grader merge` rejects shards with
# different seeds.
#
# Submit it in the book's folder, which every node must see and you have built. Without build/grader
# there it uses the grader on PATH. Nodes need no network but the one to the server, and no root.
# Each task uses the cores that Slurm allocates.
#SBATCH --job-name=warpbook
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2G
set -eu
grader=grader
if [ -x build/grader ]; then grader=build/grader; fi
jobs=${SLURM_CPUS_PER_TASK:-1}
status=0

case ${1:-} in
    postgresql://* | postgres://* | service=*)
        store=$1
        shift
        $grader batch --store "$store" --jobs "$jobs" --output /dev/null "$@" || status=$?
        [ "$status" -le 1 ] || exit "$status" # 1: some submissions aren't accepted; the job hasn't failed
        exit 0 ;;
esac

[ $# -ge 2 ] || { echo "usage: sbatch --array=1-N slurm.sh STORE [options], or slurm.sh SUBMISSIONS RESULTS [options]" >&2; exit 2; }
submissions=$1 results=$2
shift 2
mkdir -p "$results"
# A task writes its store on the node's local disk, because SQLite's locks are unreliable on network
# file systems, and copies it when it is complete.
store="$results/part-$SLURM_ARRAY_TASK_ID.db"
own=$(mktemp -d "${SLURM_TMPDIR:-/tmp}/warpbook.XXXXXX")
trap 'rm -rf "$own"' EXIT
if [ -s "$store" ]; then cp "$store" "$own/part.db"; fi # a repeated task continues
$grader batch "$submissions" --store "$own/part.db" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --jobs "$jobs" --output "$own/part.txt" "$@" || status=$?
if [ -s "$own/part.db" ]; then cp "$own/part.db" "$store.new" && mv "$store.new" "$store"; fi
[ "$status" -le 1 ] || exit "$status" # 1: some submissions aren't accepted; the job hasn't failed
