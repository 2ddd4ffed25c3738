package machine

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestMemoryLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"none", nil, math.MaxInt64},
		{"version 2", map[string]string{"proc/self/cgroup": "0::/slurm/job_1\n", "sys/fs/cgroup/slurm/job_1/memory.max": "1000\n"}, 1000},
		{"the one above is less", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "500\n"}, 500},
		{"a container", map[string]string{"proc/self/cgroup": "0::/docker/x\n", "sys/fs/cgroup/memory.max": "700\n"}, 700},
		{"no limit", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, math.MaxInt64},
		{"version 1", map[string]string{"proc/self/cgroup": "9:name=systemd:/\n4:memory:/job\n", "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "300\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 300},
		{"version 1 without", map[string]string{"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, math.MaxInt64},
		{"nonsense", map[string]string{"proc/self/cgroup": "x\n0::../../..\n", "sys/fs/cgroup/memory.max": "-5"}, math.MaxInt64},
	} {
		root := fstest.MapFS{}
		for name, data := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(data)}
		}
		if got := MemoryLimit(root); got != c.want {
			t.Errorf("%s: %d, wanted %d", c.name, got, c.want)
		}
	}
}

func TestCPULimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  float64
	}{
		{"none", nil, 0},
		{"version 2", map[string]string{"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/cpu.max": "150000 100000\n"}, 1.5},
		{"no limit", map[string]string{"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/cpu.max": "max 100000\n"}, 0},
		{"the one above is less", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n", "sys/fs/cgroup/a/cpu.max": "200000 100000"}, 2},
		{"version 1", map[string]string{"proc/self/cgroup": "4:cpu,cpuacct:/job\n", "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "50000\n", "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n"}, 0.5},
		{"version 1 without", map[string]string{"proc/self/cgroup": "4:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 0},
	} {
		root := fstest.MapFS{}
		for name, data := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(data)}
		}
		if got := CPULimit(root); got != c.want {
			t.Errorf("%s: %g, wanted %g", c.name, got, c.want)
		}
	}
}
