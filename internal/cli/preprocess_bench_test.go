package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkPreprocess is preprocess gsm8k over the data that make bench-data makes, in this process, for a profile of it:
//
//	RLPREP_BENCH=$PWD/.bench go test ./internal/cli -run '^$' -bench '^BenchmarkPreprocess$' -benchtime 3x -cpuprofile cpu.prof
//	go tool pprof -top -cum cpu.prof
func BenchmarkPreprocess(b *testing.B) {
	bench := os.Getenv("RLPREP_BENCH")
	if bench == "" {
		b.Skip("SKIPPED: RLPREP_BENCH is to name the folder that make bench-data makes")
	}
	source := filepath.Join(bench, "x100", "rg7473", "train.parquet")
	for b.Loop() {
		out := filepath.Join(b.TempDir(), "out")
		if status, _, said := mainInProcess("preprocess", "gsm8k", "--source", source, "--split", "train", "-o", out, "-q", "-j", "2"); status != 0 {
			b.Fatalf("exit %d: %s", status, said)
		}
		os.RemoveAll(out)
	}
}
