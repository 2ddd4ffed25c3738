package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// systemTrials are abilities that Linux has names for.
var systemTrials = []trial{
	{"exchange of folders", func(dir string) error {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		if err := errors.Join(os.Mkdir(a, 0o700), os.Mkdir(b, 0o700)); err != nil {
			return err
		}
		return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	}},
	{"flock", func(dir string) error {
		f, err := os.Create(filepath.Join(dir, "lock"))
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}},
	{"copy_file_range", inTwoFiles(func(from, to int) error {
		n, err := unix.CopyFileRange(from, nil, to, nil, 4096, 0)
		if err == nil && n != 4096 {
			err = fmt.Errorf("copied %d bytes of 4096", n)
		}
		return err
	})},
	{"reflink", inTwoFiles(func(from, to int) error { return unix.IoctlFileClone(to, from) })},
	{"O_TMPFILE", func(dir string) error {
		fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
}

// inTwoFiles tries what takes one file to another.
func inTwoFiles(try func(from, to int) error) func(dir string) error {
	return func(dir string) error {
		if err := twoFiles(dir); err != nil {
			return err
		}
		from, err := os.Open(filepath.Join(dir, "a"))
		if err != nil {
			return err
		}
		defer from.Close()
		to, err := os.OpenFile(filepath.Join(dir, "b"), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer to.Close()
		return try(int(from.Fd()), int(to.Fd()))
	}
}

// fileSystems are the names of file systems by their numbers (statfs(2), linux/magic.h; those of clusters from their own sources).
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
	unix.NFS_SUPER_MAGIC: "nfs", unix.FUSE_SUPER_MAGIC: "fuse", unix.CEPH_SUPER_MAGIC: "ceph", unix.SMB2_SUPER_MAGIC: "smb2", unix.CIFS_SUPER_MAGIC: "cifs",
	unix.MSDOS_SUPER_MAGIC: "vfat", unix.V9FS_MAGIC: "9p", unix.F2FS_SUPER_MAGIC: "f2fs", 0x2fc12fc1: "zfs", 0x0bd00bd0: "lustre", 0x47504653: "gpfs", 0x19830326: "beegfs",
}

// fileSystem names the file system of dir and says how many bytes are free there; -1: not known.
func fileSystem(dir string) (name string, free int64) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", -1
	}
	name = fileSystems[int64(s.Type)] //nolint:unconvert // its type differs by processor
	if name == "" {
		name = fmt.Sprintf("file system 0x%x", s.Type)
	}
	return name, int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // its type differs by processor
}
