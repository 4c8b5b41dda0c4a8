#!/bin/sh
# headers.sh BUILD: compiles the runtime against the headers of every CUDA release that has a wheel on PyPI, 12.0 to 13.5,
# to find names that a release lacks or changed. Requires a network the first time; BUILD/headers keeps the headers.
set -eu
build=$1 bad=0
for wheel in cuda-runtime-cu12==12.0.146 cuda-runtime-cu12==12.1.105 cuda-runtime-cu12==12.2.140 cuda-runtime-cu12==12.3.101 \
    cuda-runtime-cu12==12.4.127 cuda-runtime-cu12==12.5.82 cuda-runtime-cu12==12.6.77 cuda-runtime-cu12==12.8.90 \
    cuda-runtime-cu12==12.9.79 cuda-runtime==13.0.96 cuda-runtime==13.5.37; do
    folder=$build/headers/${wheel#*==}
    [ -d "$folder" ] || {
        rm -rf "$folder.new"
        python3 -m pip install -q --target "$folder.new" --no-deps --no-compile --disable-pip-version-check "nvidia-$wheel"
        mv "$folder.new" "$folder"
    }
    # The headers under crt/ are in nvcc's wheel: use those of this build.
    include=$(dirname "$(find "$folder" -name cuda_runtime_api.h)")
    faults=0
    for file in grader/runtime/*.c; do
        ${CC:-gcc} -std=gnu11 -I. -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wno-psabi -D_GNU_SOURCE \
            -isystem "$include" -isystem "$build/cuda/include" -fsyntax-only "$file" || faults=$((faults + 1))
    done
    echo "CUDA ${wheel#*==}: $faults files do not compile"
    bad=$((bad + faults))
done
[ $bad = 0 ]
