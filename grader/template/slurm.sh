#!/bin/sh
# slurm.sh — grades a class under Slurm. Each task of a job array grades one shard into a store of
# its own:
#
#   sbatch --array=1-8 grader/template/slurm.sh submissions/ results/ [options of grader batch...]
#   build/grader merge hw1.db results/part-*.db            when all tasks are done
#
# Submit it in the book's folder, which every node must see and you have built. Without build/grader
# there it uses the grader on PATH. Nodes need no network and no root. Pass --seed, or an assignment
# with a seed, because `grader merge` rejects shards with different seeds. Each task uses the cores
# that Slurm allocates.
#SBATCH --job-name=warpbook
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2G
set -eu
[ $# -ge 2 ] || { echo "usage: sbatch --array=1-N slurm.sh SUBMISSIONS RESULTS [options]" >&2; exit 2; }
submissions=$1 results=$2
shift 2
mkdir -p "$results"
grader=grader
if [ -x build/grader ]; then grader=build/grader; fi
# A task writes its store on the node's local disk, because SQLite's locks are unreliable on network
# file systems, and copies it when it is complete.
store="$results/part-$SLURM_ARRAY_TASK_ID.db"
own=$(mktemp -d "${SLURM_TMPDIR:-/tmp}/warpbook.XXXXXX")
trap 'rm -rf "$own"' EXIT
if [ -s "$store" ]; then cp "$store" "$own/part.db"; fi # a repeated task continues
status=0
$grader batch "$submissions" --store "$own/part.db" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --jobs "${SLURM_CPUS_PER_TASK:-1}" --output "$own/part.txt" "$@" || status=$?
if [ -s "$own/part.db" ]; then cp "$own/part.db" "$store.new" && mv "$store.new" "$store"; fi
[ "$status" -le 1 ] || exit "$status" # 1: some submissions aren't accepted; the job hasn't failed
