#!/bin/sh
# compile_commands.sh BUILD <COMMANDS: writes compile_commands.json for clangd and other tools, from make's commands (make -nB) and, for
# CUDA, from the files in the tree. It expands option files (@FILE); a file that is built several times keeps its last command.
set -eu
build=$1
headers=$(tr '\n' ' ' <"$build/deps/headers" | sed 's/[&|\\]/\\&/g')
{
    sed -n 's/^\([^ ]*\(gcc\|g++\|cc\|clang\|clang++\) .* -c \([^ ]*\.\(c\|cpp\)\) -o [^ ]*\)$/\3 \1/p' | sort -k1,1 -s |
        awk '$1 != last && NR > 1 { print line } { last = $1; line = $0 } END { print line }' |
        sed "s|@$build/deps/headers|$headers|"
    find chapters solutions grader -name '*.cu' | sort |
        sed "s|.*|& clang++ --cuda-path=$build/cuda -isystem $build/cuda/include -Igrader/editor -include grader/editor/cuda_host.cuh -I. -c &|"
} | sed 's/\\/\\\\/g; s/"/\\"/g' >"$build/commands"
root=$(pwd -P | sed 's/\\/\\\\/g; s/"/\\"/g')
before='['
while IFS=" " read -r file command; do
    printf '%s{"directory": "%s", "file": "%s", "command": "%s"}' "$before" "$root" "$file" "$command"
    before=',
'
done <"$build/commands"
echo ']'
