//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	damageMutants  = 1000
	damageSeconds  = 20      // longer than this is a hang: a healthy run takes some hundredths
	damageAddress  = 4 << 20 // KiB of address space: an allocation of what a damaged length says must fail here, not on the machine
	damageResident = 1 << 20 // KiB: the bar
)

// A seed is a healthy file and what the tool makes of it.
type seed struct {
	name string
	data []byte
	args func(file, out string) []string
	out  string // the output, below OUT
	crc  bool   // checksums cover every value
	// carries says that chunks go out undecoded: they are as damaged as they were, and their readers are told so.
	carries bool
	pages   [][2]int // neighbouring pages of one column chunk, as pairs of begin and length
	rows    string   // hash of the rows that come out
}

// TestDamage makes files that are damaged in a thousand ways and has the tool read them: no panic, no hang, no flood of memory,
// a message that names the file, nothing visible where it failed, and no wrong row where checksums can tell.
//
// RLPREP_MUTANTS=N makes N of them, RLPREP_MUTANT=I only the one of that number, and leaves it in the temporary directory.
func TestDamage(t *testing.T) {
	bin := buildTool(t, "")
	seeds := damageSeeds(t)
	for _, s := range seeds {
		s.measure(t, bin)
	}
	var tally tally
	work := make(chan int)
	var wg sync.WaitGroup
	dir := t.TempDir()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := range work {
				tally.add(mutant(bin, dir, seeds, n))
			}
		})
	}
	for _, n := range mutantNumbers() {
		work <- n
	}
	close(work)
	wg.Wait()
	tally.report(t)
}

func mutantNumbers() []int {
	if one, err := strconv.Atoi(os.Getenv("RLPREP_MUTANT")); err == nil {
		return []int{one}
	}
	n := damageMutants
	if testing.Short() {
		n /= 5
	}
	if want, err := strconv.Atoi(os.Getenv("RLPREP_MUTANTS")); err == nil {
		n = want
	}
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func damageSeeds(t *testing.T) []*seed {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata")
	preprocess := func(file, out string) []string {
		return []string{"preprocess", "gsm8k", "--source", file, "--split", "train", "-o", out}
	}
	column := func(edit ...string) func(file, out string) []string {
		return func(file, out string) []string { return append(slices.Clone(edit), file, "-o", out) }
	}
	edits := []struct {
		name, out string // "": under the file's own name
		args      func(file, out string) []string
	}{
		{"add", "", column("add", "agent_name=tool_agent", "extra_info.row=@row")},
		{"drop", "", column("drop", "ability,extra_info.question")},
		{"rename", "", column("rename", "extra_info.index=extra_info.idx,prompt[].role=prompt[].who")},
		{"reshard", "train-00000-of-00002.parquet", column("reshard", "--shards", "2")},
	}
	files, err := filepath.Glob(filepath.Join(dir, "parquet", "damage", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no seeds: %v", err)
	}
	var seeds []*seed
	for _, file := range files {
		s := &seed{name: filepath.Base(file), data: readFile(t, file), args: preprocess, out: "train.parquet"}
		s.crc = strings.Contains(s.name, "-crc-")
		s.pages = pagePairs(t, s.data)
		if !strings.HasPrefix(s.name, "verl-") {
			seeds = append(seeds, s)
			continue
		}
		for _, e := range edits {
			one := *s
			one.name, one.args, one.out, one.carries = e.name+"-"+s.name, e.args, e.out, true
			seeds = append(seeds, &one)
		}
	}
	text := readFile(t, filepath.Join(dir, "sample", "train.jsonl"))
	seeds = append(seeds,
		&seed{name: "raw.jsonl", data: text, args: preprocess, out: "train.parquet"},
		&seed{name: "raw-crc.jsonl.gz", data: gzipped(t, text), args: preprocess, out: "train.parquet", crc: true})
	return seeds
}

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pagePairs finds neighbouring pages by the offset index, where the file has one.
func pagePairs(t *testing.T, data []byte) (out [][2]int) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range f.OffsetIndexes() {
		for i := 1; i < len(index.PageLocations); i++ {
			a, b := index.PageLocations[i-1], index.PageLocations[i]
			if a.Offset+int64(a.CompressedPageSize) == b.Offset {
				out = append(out, [2]int{int(a.Offset), int(a.CompressedPageSize)}, [2]int{int(b.Offset), int(b.CompressedPageSize)})
			}
		}
	}
	return out
}

// measure runs the tool over the healthy seed.
func (s *seed) measure(t *testing.T, bin string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, s.name)
	if err := os.WriteFile(file, s.data, 0o666); err != nil {
		t.Fatal(err)
	}
	r := runLimited(bin, s.args(file, filepath.Join(dir, "out")))
	if r.status != 0 {
		t.Fatalf("%s, undamaged: exit %d: %s", s.name, r.status, r.output)
	}
	var err error
	if s.rows, err = rowsHash(s.output(dir, s.name)); err != nil {
		t.Fatalf("%s, undamaged: %v", s.name, err)
	}
}

func (s *seed) output(dir, file string) string {
	if s.out == "" {
		return filepath.Join(dir, "out", file)
	}
	return filepath.Join(dir, "out", s.out)
}

// A verdict is what became of one mutant. Fault: what must not be. Kind otherwise: refused, equal, undetectable, carried.
type verdict struct {
	seed, damage, kind, fault string
	note                      string // where the mutant was kept, and what the tool said
	status                    int
	resident                  int64
	took                      time.Duration
	recovered                 bool
}

// mutant makes mutant n in dir and judges the tool's run over it. Seed and damage take turns, so that each meets each.
func mutant(bin, dir string, seeds []*seed, n int) verdict {
	s := seeds[n%len(seeds)]
	d := damages[n/len(seeds)%len(damages)]
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	data, ok := d.make(rng, s)
	if !ok {
		d = damages[0]
		data, _ = d.make(rng, s)
	}
	v := verdict{seed: s.name, damage: d.name}
	place := filepath.Join(dir, fmt.Sprint(n))
	name := fmt.Sprintf("m%04d-%s", n, s.name)
	file := filepath.Join(place, name)
	if err := errors.Join(os.MkdirAll(place, 0o777), os.WriteFile(file, data, 0o666)); err != nil {
		v.fault = err.Error()
		return v
	}
	r := runLimited(bin, s.args(file, filepath.Join(place, "out")))
	v.status, v.resident, v.took = r.status, r.resident, r.took
	v.recovered = strings.Contains(r.output, "reader panicked")
	v.kind, v.fault = judge(s, d.name, r, place, name)
	if v.fault != "" {
		v.fault = fmt.Sprintf("RLPREP_MUTANT=%d (%s, %s): %s", n, s.name, d.name, v.fault)
	}
	if v.fault != "" || os.Getenv("RLPREP_MUTANT") != "" {
		kept := filepath.Join(os.TempDir(), name)
		if os.WriteFile(kept, data, 0o666) == nil {
			v.note = "\n    kept: " + kept + "\n    said: " + strings.TrimSpace(r.output)
		}
	}
	os.RemoveAll(place)
	return v
}

// judge says what kind of end a run came to, or what is wrong with it.
func judge(s *seed, damage string, r run, place, name string) (kind, fault string) {
	switch {
	case r.hung:
		return "", fmt.Sprintf("no end after %d s", damageSeconds)
	case strings.Contains(r.output, "goroutine ") || strings.Contains(r.output, "panic:") || strings.Contains(r.output, "fatal error:"):
		return "", "panic"
	case r.resident > damageResident:
		return "", fmt.Sprintf("%d MiB", r.resident>>10)
	case r.status == 2 && strings.Contains(r.output, name+": no column"): // its name was damaged, and is a name still
	case r.status != 0 && r.status != 1 && r.status != 3:
		return "", fmt.Sprintf("exit %d", r.status)
	case r.status != 0 && !strings.Contains(r.output, name):
		return "", fmt.Sprintf("exit %d, and the message does not name the file", r.status)
	}
	if r.status != 0 {
		if left := entries(place); !slices.Equal(left, []string{name}) && !slices.Equal(left, []string{".out.rlprep", name}) {
			return "", fmt.Sprintf("exit %d, and there are %v", r.status, left)
		}
		return "refused", ""
	}
	got, err := rowsHash(s.output(place, name))
	switch {
	case err == nil && got == s.rows:
		return "equal", ""
	case s.carries && (err != nil || tells(s.output(place, name))):
		return "carried", ""
	case err != nil:
		return "", fmt.Sprintf("exit 0, but the output cannot be read: %v", err)
	case s.crc && damage == "swapped pages":
		return "undetectable", "" // each page still has its own checksum
	case s.crc:
		return "", "exit 0 and wrong rows, although checksums cover them"
	}
	return "undetectable", ""
}

func entries(dir string) (out []string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

// A run is one run of the tool under limits.
type run struct {
	status   int
	output   string
	hung     bool
	resident int64 // KiB at the peak
	took     time.Duration
}

func runLimited(bin string, args []string) run {
	ctx, cancel := context.WithTimeout(context.Background(), damageSeconds*time.Second)
	defer cancel()
	argv := append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, damageAddress), bin}, args...)
	cmd := exec.CommandContext(ctx, "sh", argv...)
	cmd.Env = toolEnv("GOMAXPROCS=1")
	cmd.WaitDelay = time.Second
	start := time.Now()
	out, err := cmd.CombinedOutput()
	r := run{output: string(out), took: time.Since(start), hung: ctx.Err() != nil, status: -1}
	if cmd.ProcessState != nil {
		r.status = cmd.ProcessState.ExitCode()
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			r.resident = u.Maxrss
			if runtime.GOOS == "darwin" {
				r.resident >>= 10
			}
		}
	} else {
		r.output += err.Error()
	}
	return r
}

// rowsHash is the hash of every value of every row, as parquet-go reads them, which checks the pages' checksums.
func rowsHash(name string) (sum string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)), parquet.SkipPageIndex(true))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	var read int64
	for _, g := range f.RowGroups() {
		n, err := hashRows(h, g.Rows())
		if err != nil {
			return "", err
		}
		read += n
	}
	if read != f.NumRows() {
		return "", fmt.Errorf("%d rows read, %d in the footer", read, f.NumRows())
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashRows(w io.Writer, rows parquet.Rows) (n int64, err error) {
	defer rows.Close()
	buf := make([]parquet.Row, 64)
	for {
		k, err := rows.ReadRows(buf)
		for _, row := range buf[:k] {
			for _, v := range row {
				fmt.Fprintf(w, "%d %v %q\n", v.Column(), v.IsNull(), v.Bytes())
			}
		}
		n += int64(k)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil || k == 0 {
			return n, errors.Join(err, errors.New("rows ended early"))
		}
	}
}

// tells reports whether a page of the file has a checksum that is not its body's. parquet-go passes over those of dictionaries.
func tells(name string) bool {
	b, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)), parquet.SkipPageIndex(true))
	if err != nil {
		return false
	}
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			m := c.MetaData
			start := m.DataPageOffset
			if m.DictionaryPageOffset > 0 {
				start = m.DictionaryPageOffset
			}
			if chunkTells(b[start : start+m.TotalCompressedSize]) {
				return true
			}
		}
	}
	return false
}

func chunkTells(b []byte) bool {
	r := bytes.NewReader(b)
	d := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r))
	for r.Len() > 0 {
		var h format.PageHeader
		if d.Decode(&h) != nil || h.CompressedPageSize < 0 || int(h.CompressedPageSize) > r.Len() {
			return true
		}
		body := make([]byte, h.CompressedPageSize)
		io.ReadFull(r, body)
		if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(body) {
			return true
		}
	}
	return false
}

// A damage is one way to damage a file; make returns false where the seed does not lend itself to it.
type damage struct {
	name string
	make func(*rand.Rand, *seed) ([]byte, bool)
}

var damages = []damage{
	{"a bit in the data", func(r *rand.Rand, s *seed) ([]byte, bool) { return flipped(r, s.data, 0, s.footer(), 1), true }},
	{"a bit in the footer", func(r *rand.Rand, s *seed) ([]byte, bool) {
		return flipped(r, s.data, s.footer(), len(s.data), 1), s.footer() < len(s.data)
	}},
	{"some bits in the data", func(r *rand.Rand, s *seed) ([]byte, bool) {
		return flipped(r, s.data, 0, s.footer(), 2+r.IntN(30)), true
	}},
	{"some bits in the footer", func(r *rand.Rand, s *seed) ([]byte, bool) {
		return flipped(r, s.data, s.footer(), len(s.data), 2+r.IntN(6)), s.footer() < len(s.data)
	}},
	{"truncated", func(r *rand.Rand, s *seed) ([]byte, bool) { return s.data[:r.IntN(len(s.data))], true }},
	{"a piece cut out", func(r *rand.Rand, s *seed) ([]byte, bool) {
		from, to := piece(r, s.data, 2000)
		return slices.Concat(s.data[:from], s.data[to:]), true
	}},
	{"a piece zeroed", func(r *rand.Rand, s *seed) ([]byte, bool) {
		from, to := piece(r, s.data, 2000)
		out := bytes.Clone(s.data)
		clear(out[from:to])
		return out, true
	}},
	{"a piece of noise", func(r *rand.Rand, s *seed) ([]byte, bool) {
		from, to := piece(r, s.data, 500)
		out := bytes.Clone(s.data)
		for i := from; i < to; i++ {
			out[i] = byte(r.Uint32())
		}
		return out, true
	}},
	{"a piece twice", func(r *rand.Rand, s *seed) ([]byte, bool) {
		from, to := piece(r, s.data, 2000)
		return slices.Concat(s.data[:to], s.data[from:]), true
	}},
	{"pieces exchanged", func(r *rand.Rand, s *seed) ([]byte, bool) {
		a, b := piece(r, s.data, 1000)
		c := min(len(s.data), b+1+r.IntN(1000))
		return slices.Concat(s.data[:a], s.data[b:c], s.data[a:b], s.data[c:]), true
	}},
	{"swapped pages", func(r *rand.Rand, s *seed) ([]byte, bool) {
		if len(s.pages) == 0 {
			return nil, false
		}
		i := r.IntN(len(s.pages)/2) * 2
		a, b := s.pages[i], s.pages[i+1]
		return slices.Concat(s.data[:a[0]], s.data[b[0]:b[0]+b[1]], s.data[a[0]:a[0]+a[1]], s.data[b[0]+b[1]:]), true
	}},
	{"another ending", func(r *rand.Rand, s *seed) ([]byte, bool) {
		ends := [][]byte{{0}, []byte("PAR1"), []byte("\xff\xff\xff\xffPAR1"), []byte("\xff\xff\xff\x7fPAR1"), {0xff, 0xfe}, bytes.Repeat([]byte("["), 20000)}
		return slices.Concat(s.data, ends[r.IntN(len(ends))]), true
	}},
}

// footer is where the footer of a Parquet file begins; of other files, the end.
func (s *seed) footer() int {
	n := len(s.data)
	if !strings.HasSuffix(s.name, ".parquet") {
		return n
	}
	length := int(s.data[n-8]) | int(s.data[n-7])<<8 | int(s.data[n-6])<<16
	return n - 8 - length
}

func flipped(r *rand.Rand, data []byte, from, to, count int) []byte {
	out := bytes.Clone(data)
	if from >= to {
		return out
	}
	for range count {
		out[from+r.IntN(to-from)] ^= 1 << r.IntN(8)
	}
	return out
}

// piece is a range of at least one byte and at most most.
func piece(r *rand.Rand, data []byte, most int) (from, to int) {
	from = r.IntN(len(data) - 1)
	return from, min(len(data), from+1+r.IntN(most))
}

// A tally is what became of all mutants.
type tally struct {
	mu        sync.Mutex
	kinds     map[string]int
	quiet     map[string]int // undetectable, by seed and damage
	faults    []string
	notes     []string
	recovered int
	resident  int64
	took      time.Duration
}

func (c *tally) add(v verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil {
		c.kinds, c.quiet = map[string]int{}, map[string]int{}
	}
	kind := v.kind
	if kind == "refused" {
		kind = fmt.Sprintf("refused with %d", v.status)
	}
	c.kinds[kind]++
	if v.kind == "undetectable" {
		c.quiet[v.seed+", "+v.damage]++
	}
	if v.fault != "" {
		c.faults = append(c.faults, v.fault+v.note)
	} else if v.note != "" {
		c.notes = append(c.notes, v.kind+v.note)
	}
	if v.recovered {
		c.recovered++
	}
	c.resident, c.took = max(c.resident, v.resident), max(c.took, v.took)
}

func (c *tally) report(t *testing.T) {
	t.Logf("ends: %v; at most %d MiB and %.1f s; %d panics of a reader recovered", c.kinds, c.resident>>10, c.took.Seconds(), c.recovered)
	t.Logf("wrong rows that nothing in the file can tell: %v", c.quiet)
	for _, n := range c.notes {
		t.Log(n)
	}
	slices.Sort(c.faults)
	for i, f := range c.faults {
		if i == 20 {
			t.Errorf("… %d more", len(c.faults)-i)
			break
		}
		t.Error(f)
	}
}
