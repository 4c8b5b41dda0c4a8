#!/bin/sh
# slurm.sh — a class under Slurm, a shard for each task of a job array, each with a store of its own:
#
#   sbatch --array=1-8 grader/template/slurm.sh submissions/ results/ [options of grader batch...]
#   build/grader merge hw1.db results/part-*.db            when all are done
#
# Without a build/ in this folder it is the grader on PATH.
# Submit it in the book's folder, which every node sees, built once. Nodes need no network and no root. Give --seed, or an assignment that
# has one: shards that draw their own are refused by merge. Each task takes the cores that Slurm gives it.
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
# Stores live on the node's own disk while they are written, as SQLite wants it, and are handed over whole.
store="$results/part-$SLURM_ARRAY_TASK_ID.db"
own=$(mktemp -d "${SLURM_TMPDIR:-/tmp}/warpbook.XXXXXX")
trap 'rm -rf "$own"' EXIT
if [ -s "$store" ]; then cp "$store" "$own/part.db"; fi # a task that runs again goes on
status=0
$grader batch "$submissions" --store "$own/part.db" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --jobs "${SLURM_CPUS_PER_TASK:-1}" --output "$own/part.txt" "$@" || status=$?
if [ -s "$own/part.db" ]; then cp "$own/part.db" "$store.new" && mv "$store.new" "$store"; fi
[ "$status" -le 1 ] || exit "$status" # 1: some submissions have points missing, which is no failure of the job
