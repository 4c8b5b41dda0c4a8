#!/bin/sh
# machine.sh ROOT WORK: tests the sandbox on an aarch64 kernel with pages of 16 KiB, in an emulated machine, which qemu-user can't.
# ROOT is from `arm.sh root`; build build/aarch64 first. Requires root, a network, and: apt-get install qemu-system-arm e2fsprogs cpio
# Grades a model solution in both tiers with the nvcc for aarch64 and compares the reports with this machine's; then runs the sandbox's suites,
# as a user and as root. WORK keeps kernel, disk and output. PAGES=4k selects the kernel with pages of 4 KiB, SUITES= other suites.
set -eu
root=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)
pages=${PAGES:-16k}
suites=${SUITES:-jail jail_advice jail_filter grader_inputs killed hostproc}
grade_solution="run transpose --file solutions/02-coalescing/transpose.cu --seed emulated --format json"
fail() { echo "machine.sh: $*" >&2; exit 1; }

# apt for arm64 of Debian 13, whose kernel has Landlock 6, with separate folders.
apt_there() {
    tool=$1
    shift
    mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    "$tool" -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/parts" \
        -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root "$@"
}

# Makes KERNEL, and INITRAMFS with busybox and the modules that its disk needs.
kernel() {
    mkdir -p "$work/packages"
    mirror=$(sed -n 's/^URIs: *//p; s/^deb  *\([^ ]*\).*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -m 1 '/debian/*$')
    mkdir -p "$work/apt/parts"
    printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' "$mirror" \
        >"$work/apt/parts/trixie.sources"
    apt_there apt-get update -qq
    kind=arm64$([ "$pages" = 4k ] || echo "-$pages")
    name=$(apt_there apt-cache search --names-only "^linux-image-[0-9.]*[+]deb13-$kind-unsigned\$" | sort -V | tail -n 1 | cut -d' ' -f1)
    (cd "$work/packages" && apt_there apt-get download -qq "$name" busybox-static)
    for package in "$work/packages/$name"_*.deb "$work"/packages/busybox-static_*.deb; do dpkg-deb -x "$package" "$work/kernel"; done
    initramfs "$work/kernel/usr/lib/modules"/*/kernel
}
initramfs() { # MODULES
    mkdir -p "$work/first/bin" "$work/first/modules" "$work/first/proc" "$work/first/dev" "$work/first/new"
    cp "$work/kernel/usr/bin/busybox" "$work/first/bin/"
    for module in 1:lib/crc16 2:crypto/crc32c_generic 3:lib/libcrc32c 4:fs/mbcache 5:fs/jbd2/jbd2 6:fs/ext4/ext4 7:drivers/block/virtio_blk; do
        xz -dc "$1/${module#*:}.ko.xz" >"$work/first/modules/${module%%:*}.ko"
    done
    cat >"$work/first/init" <<'END'
#!/bin/busybox sh
for module in /modules/*; do /bin/busybox insmod $module; done
/bin/busybox mount -t devtmpfs none /dev
until [ -e /dev/vda ]; do /bin/busybox sleep 1; done
/bin/busybox mount -t ext4 /dev/vda /new && /bin/busybox mount --move /dev /new/dev && exec /bin/busybox switch_root /new /start
END
    chmod +x "$work/first/init"
    (cd "$work/first" && find . | cpio -o -H newc 2>/dev/null | gzip >"$work/initramfs")
}

# Fetches the listed version of NVIDIA's compiler for aarch64.
toolkit() {
    mkdir -p "$work/wheels"
    sed -n 's/^wheel: //p' grader/packages.txt | python3 -m pip download -q --no-deps --platform manylinux_2_17_aarch64 -d "$work/wheels" -r /dev/stdin
    for wheel in "$work"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$work/wheels"; done
    mkdir -p "$1/toolkit"
    mv "$work/wheels/nvidia/cu13" "$1/toolkit/cuda"
    chmod -R a+rx "$1/toolkit/cuda/bin" "$1/toolkit/cuda/nvvm/bin"
    ln -s toolkit/cuda "$1/cuda"
}

disk() {
    disk=$work/disk
    cp -a "$root" "$disk"
    for folder in bin sbin lib; do cp -a "$disk/$folder/." "$disk/usr/$folder/" && rm -r "${disk:?}/$folder" && ln -s "usr/$folder" "$disk/$folder"; done
    cp "$work/kernel/usr/bin/busybox" "$disk/bin/"
    printf 'root:x:0:0::/root:/bin/sh\nstudent:x:1000:1000::/home/student:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$disk/etc/passwd"
    printf 'root:x:0:\nstudent:x:1000:\nnogroup:x:65534:\n' >"$disk/etc/group"
    mkdir -p "$disk/home/student" "$disk/warpbook/build/tests"
    git ls-files -co --exclude-standard | tar c -T - | tar x -C "$disk/warpbook"
    (cd build/aarch64 && cp -a grader simgpu libexec lib deps "$disk/warpbook/build/" && cp tests/unit tests/libfakecuda.so tests/hostile-device "$disk/warpbook/build/tests/")
    toolkit "$disk/warpbook/build"
    touch "$disk/warpbook/build/setup.done"
    start >"$disk/start" && chmod +x "$disk/start"
    chmod -R a+rwX "$disk/warpbook" "$disk/home/student"
    truncate -s 3G "$work/image"
    mke2fs -q -F -t ext4 -d "$disk" "$work/image"
}
start() { # the machine's first and only program
    cat <<END
#!/bin/sh
export PATH=/usr/sbin:/usr/bin HOME=/root
mount -t proc none /proc && mount -t sysfs none /sys && mount -t tmpfs none /tmp && mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /dev/shm && mount -t tmpfs none /dev/shm
busybox ip link set lo up
as() { if [ \$1 = root ]; then sh -c "\$2"; else setpriv --reuid=\$1 --regid=\$1 --init-groups env HOME=/home/student sh -c "\$2"; fi; }
cd /warpbook
echo "\$(uname -rm), pages of \$(getconf PAGESIZE) bytes"
for tier in T1 T2; do
    as student "WARPBOOK_JAIL_TIER=\$tier build/grader $grade_solution --output /warpbook/\$tier.json 2>/dev/null"
done
for suite in $suites; do for user in student root; do
    echo "\$suite as \$user:"
    as \$user "CK_DEFAULT_TIMEOUT=60 CK_TIMEOUT_MULTIPLIER=10 CK_EXCLUDE_TAGS=long CK_RUN_SUITE=\$suite build/tests/unit" 2>&1 | grep -v Running
done; done
sync
busybox poweroff -f
END
}

# Reports differ in the sandbox's description, which names Landlock's version.
same() {
    debugfs -R "dump /warpbook/$1.json $work/$1.json" "$work/image" 2>/dev/null
    WARPBOOK_JAIL_TIER=$1 build/grader $grade_solution --output "$work/here-$1.json" 2>/dev/null || true
    python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[2:])
print(sys.argv[1], "here:", a.pop("jail"), "- there:", b.pop("jail"), "-", "equal" if a == b else "DIFFERS")
sys.exit(a != b)' "$1" "$work/here-$1.json" "$work/$1.json"
}

[ "$(id -u)" = 0 ] || fail "needs root, to lay out the disk"
[ -x build/aarch64/tests/unit ] || fail "make CROSS=aarch64-linux-gnu- SYSROOT=$root all build/aarch64/tests/unit build/aarch64/tests/libfakecuda.so build/aarch64/tests/hostile-device"
for tool in qemu-system-aarch64 mke2fs debugfs cpio xz; do command -v $tool >/dev/null || fail "no $tool"; done
rm -rf "$work/kernel" "$work/first" "$work/disk" "$work/packages" "$work/wheels" "$work/image"
kernel
disk
qemu-system-aarch64 -M virt,gic-version=3 -cpu neoverse-n1 -smp 2 -m 5000 -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/initramfs" \
    -append "console=ttyAMA0 quiet" -nographic -nic none -drive "if=none,id=disk,file=$work/image,format=raw,cache=unsafe" \
    -device virtio-blk-pci,drive=disk </dev/null >"$work/said"
grep -v '^\[' "$work/said"
same T1
same T2
! grep -q 'Failures: [1-9]\|Errors: [1-9]' "$work/said" || fail "a suite failed: $work/said"
