#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Process 1 of the guest (busybox): puts this host's file system in place, runs the job, says how it
# ended on the control port, and switches the machine off.
export PATH=/bin

fail() {
  echo "numa-vm guest: $1"
  dmesg | tail -n 30
  poweroff -f
}

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /m/*.ko; do insmod "$module" || echo "numa-vm guest: insmod $module failed"; done
. /job/config

# The host's files, read-only, under a layer in memory that takes what is written.
root=/newroot
over9p=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o $over9p,ro,cache=loose root /lower || fail "cannot mount the host's files"
mount -t tmpfs -o size=50%,mode=755 tmpfs /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay $root ||
  fail "cannot mount a writable layer"
mount --bind /proc $root/proc
mount --rbind /sys $root/sys
mount --rbind /dev $root/dev
mkdir -p $root/dev/shm $root/dev/pts
mount -t tmpfs tmpfs $root/dev/shm
mount -t devpts devpts $root/dev/pts
mount -t tmpfs -o mode=755 tmpfs $root/run
mount -t cgroup2 cgroup2 $root/sys/fs/cgroup
mount -t debugfs debugfs $root/sys/kernel/debug 2>/dev/null
[ -e $root/dev/fd ] || {
  ln -s /proc/self/fd $root/dev/fd
  ln -s /proc/self/fd/0 $root/dev/stdin
  ln -s /proc/self/fd/1 $root/dev/stdout
  ln -s /proc/self/fd/2 $root/dev/stderr
}
i=0
for folder in $writable; do
  mkdir -p "$root$folder"
  mount -t 9p -o $over9p,rw,cache=mmap writable$i "$root$folder" || fail "cannot mount $folder"
  i=$((i + 1))
done

in=/dev/null
for port in /sys/class/virtio-ports/*; do
  read -r name <"$port/name"
  device=/dev/${port##*/}
  case $name in
    numa_vm.out) out=$device ;;
    numa_vm.err) err=$device ;;
    numa_vm.control) control=$device ;;
    numa_vm.in) in=$device ;;
  esac
done
[ -n "$control" ] || fail "no ports"

# A kernel that starts on several nodes switches migration on; a job says whether it wants it.
[ -e /proc/sys/kernel/numa_balancing ] && echo "$numa_balancing" >/proc/sys/kernel/numa_balancing
[ -n "$huge_pages" ] && echo "$huge_pages" >/sys/kernel/mm/transparent_hugepage/enabled
for cpu in $offline; do
  echo 0 >/sys/devices/system/cpu/cpu$cpu/online || fail "cpu $cpu does not go offline"
done
ip link set lo up 2>/dev/null
mkdir $root/run/numa-vm
cp /job/* $root/run/numa-vm/

echo BOOTED >"$control"
chroot $root /bin/sh -e /run/numa-vm/setup >"$err" 2>&1 </dev/null || {
  echo "numa-vm: --setup failed" >"$err"
  echo "EXIT 125" >"$control"
  poweroff -f
}
cgroups=$root/sys/fs/cgroup
if [ -n "$cpuset$mems" ]; then
  echo +cpuset >$cgroups/cgroup.subtree_control
  mkdir $cgroups/job
  { [ -z "$cpuset" ] || echo "$cpuset" >$cgroups/job/cpuset.cpus; } &&
    { [ -z "$mems" ] || echo "$mems" >$cgroups/job/cpuset.mems; } || {
    echo "numa-vm: the guest's kernel refuses --cpuset '$cpuset' --mems '$mems'" >"$err"
    echo "EXIT 125" >"$control"
    poweroff -f
  }
fi
(
  [ -d $cgroups/job ] && echo 0 >$cgroups/job/cgroup.procs
  exec chroot $root /bin/sh /run/numa-vm/run <"$in" >"$out" 2>"$err"
)
echo "EXIT $?" >"$control"
poweroff -f
