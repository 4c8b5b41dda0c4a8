#!/bin/sh
# two_devices.sh — compiles the programs of grader/tests/programs/devices with nvcc for two real GPUs, runs them, and
# prints what each prints and its exit status, to be compared with the simulator. Call it in the root of the tree, on
# a machine with two GPUs of compute capability 9.0. Each program has 120 s.
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
for name in halo ring peer_kernel errors no_access driver peer3d times; do
    nvcc -arch=sm_90 -std=c++17 -lineinfo -o "$out/$name" "$folder/$name.cu" -lcuda || continue
    run $name
    [ $name = no_access ] && run $name enabled-before
done
exit 0
