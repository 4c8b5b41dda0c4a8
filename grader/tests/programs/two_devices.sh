#!/bin/sh
# two_devices.sh — compiles the programs of grader/tests/programs/devices and grader/tests/timing/peers.cu with nvcc for two
# real GPUs, runs them, and prints what each prints and its exit status. NAME.expected holds what an H200 printed,
# peers-h200.tsv its times. Call it on a machine with two GPUs of compute capability 9.0. Each program has 120 s.
set -u
PATH=$PATH:/usr/local/cuda/bin
folder=$(dirname "$0")/devices
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
nvidia-smi --query-gpu=index,name,driver_version,pcie.link.gen.current,pcie.link.width.current --format=csv
nvidia-smi topo -m
nvidia-smi nvlink --status -i 0 | head -24
nvcc --version | tail -1
run() {
    name=$1
    shift
    echo "==== $name $*"
    timeout 120 "$out/$name" "$@" 2>&1
    echo "---- exit status $?"
}
for source in "$folder"/*.cu "$folder"/../../timing/peers.cu; do
    name=$(basename "$source" .cu)
    nvcc -arch=sm_90 -std=c++17 -lineinfo -o "$out/$name" "$source" -lcuda || continue
    run "$name"
    [ "$name" = no_access ] && run "$name" enabled-before
done
exit 0
