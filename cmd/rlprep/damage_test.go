//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

	"github.com/rlprep/rlprep/internal/parquetio"
	"github.com/rlprep/rlprep/internal/parquetio/mutant"
)

const (
	damageSeconds  = 30      // of CPU time: more is a hang, a healthy run takes some hundredths
	damageAddress  = 4 << 20 // KiB of address space: an allocation of what a damaged length says must fail here, not on the machine
	damageResident = 1 << 20 // KiB: the bar
)

// A job is one command over a file.
type job struct {
	name string
	args func(p *patient) []string
	out  string // the file that it writes, below OUT; "": nothing. "*": under the input's own name
	// carries says that chunks go out undecoded: they are as damaged as they were, and their readers are told so.
	carries bool
	// manifest says that OUT can be verified.
	manifest bool
}

// A patient is one mutant: a file in a folder of its own, in which the tool runs.
type patient struct {
	ward      *ward
	dir, name string
	seed      *damageSeed
	*mutant.Mutant
}

// A ward is what all runs have in common.
type ward struct {
	bin, dir string
	rules    string // all ids, as --expects takes them: what rules find shall not keep rows from being written
	seeds    []*damageSeed
}

// A damageSeed is a healthy file and what the tool makes of it.
type damageSeed struct {
	*mutant.Seed
	crc  bool // checksums cover every value
	keep bool // it has types that are only carried: no step may drop rows
	jobs []*job

	measured sync.Once
	err      error               // why the healthy seed cannot be measured
	runs     map[string]*healthy // by job
}

// healthy is what a job makes of the seed.
type healthy struct {
	run
	rows string // hash of the rows that come out
}

// TestDamage makes files that are damaged in hundreds of ways and has the tool read them, by eight commands each: no panic, no hang, no
// flood of memory, a message that names the file, nothing visible where it failed, no wrong row where checksums can tell, and
// nothing that changes where statistics lie.
//
// There is one mutant of every second seed; RLPREP_MUTANTS=N makes N (.ci/run: 500), RLPREP_MUTANTS_FROM=M those from number M on, RLPREP_MUTANT=I
// only the one of that number, and leaves it in the temporary directory.
func TestDamage(t *testing.T) {
	w := &ward{bin: tool(t), dir: t.TempDir(), seeds: damageSeeds(t)}
	w.rules = ruleIDs(t, w.bin)
	tally := &tally{}
	work := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := range work {
				for _, v := range w.mutant(n) {
					tally.add(v)
				}
			}
		})
	}
	for _, n := range mutantNumbers(len(w.seeds)) {
		work <- n
	}
	close(work)
	wg.Wait()
	tally.report(t)
}

// mutantNumbers are the numbers of the mutants to make: every second one below n unless the environment says otherwise.
func mutantNumbers(n int) []int {
	if one, err := strconv.Atoi(os.Getenv("RLPREP_MUTANT")); err == nil {
		return []int{one}
	}
	step := 2
	if want, err := strconv.Atoi(os.Getenv("RLPREP_MUTANTS")); err == nil {
		n, step = want, 1
	}
	from, _ := strconv.Atoi(os.Getenv("RLPREP_MUTANTS_FROM"))
	var out []int
	for i := 0; i < n; i += step {
		out = append(out, from+i)
	}
	return out
}

// TestWriteMutants writes mutants of the Parquet seeds into RLPREP_MUTANTS_OUT, for testdata/conformance/mutants.py: N-SEED.parquet, and what
// was changed in mutants.jsonl.
func TestWriteMutants(t *testing.T) {
	out := os.Getenv("RLPREP_MUTANTS_OUT")
	if out == "" {
		t.Skip("for testdata/conformance/mutants.py")
	}
	var seeds []*damageSeed
	for _, s := range damageSeeds(t) {
		if strings.HasSuffix(s.Name, ".parquet") {
			seeds = append(seeds, s)
		}
	}
	var list bytes.Buffer
	for _, n := range mutantNumbers(1000) {
		s := seeds[n%len(seeds)]
		m := s.Make(n)
		name := fmt.Sprintf("%06d-%s", n, s.Name)
		if err := os.WriteFile(filepath.Join(out, name), m.Data, 0o666); err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(map[string]any{"file": name, "seed": s.Name, "kind": m.Kind, "what": m.What, "same": m.Same})
		if err != nil {
			t.Fatal(err)
		}
		list.Write(append(line, '\n'))
	}
	for _, s := range seeds {
		if err := os.WriteFile(filepath.Join(out, "seed-"+s.Name), s.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "mutants.jsonl"), list.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// damageSeeds are files of many writers, encodings, codecs and shapes; those of damage/ are the sample's rows.
func damageSeeds(t *testing.T) []*damageSeed {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata")
	var seeds []*damageSeed
	add := func(name string, data []byte, crc bool) {
		s, err := mutant.NewSeed(name, data)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, &damageSeed{Seed: s, crc: crc})
	}
	files, err := filepath.Glob(filepath.Join(dir, "parquet", "damage", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no seeds: %v", err)
	}
	for _, name := range []string{"pyarrow-v1-none", "pyarrow-v2-none", "pyarrow-v1-gzip", "pyarrow-v2-brotli", "pyarrow-v1-lz4", "pyarrow-v2-zstd",
		"pyarrow-v1-snappy", "pyarrow-plain", "pyarrow-nested", "pyarrow-types", "pyarrow-types-no-arrow-schema", "pyarrow-page-index",
		"pyarrow-bloom", "pyarrow-many-groups", "pandas-index", "polars", "polars-categorical", "duckdb-v2", "duckdb",
		"fastparquet", "datasets-features", "hostile/java_types_v1", "hostile/java_legacy_v1"} {
		files = append(files, filepath.Join(dir, "parquet", name+".parquet"))
	}
	for _, file := range files {
		add(filepath.Base(file), readFile(t, file), strings.Contains(file, "-crc-"))
	}
	text := readFile(t, filepath.Join(dir, "sample", "train.jsonl"))
	add("raw.jsonl", text, false)
	add("raw-crc.jsonl.gz", gzipped(t, text), true)
	for _, s := range seeds {
		s.jobs = s.allJobs()
	}
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

// ruleIDs are the rules, as --expects takes them: what they find shall not keep rows from being written.
func ruleIDs(t *testing.T, bin string) string {
	t.Helper()
	out, err := exec.Command(bin, "list", "rules", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ ID string }
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, ",")
}

// allJobs are the commands that are run over a mutant of the seed.
func (s *damageSeed) allJobs() []*job {
	on := func(name, out string, args ...string) *job {
		return &job{name: name, out: out, carries: out != "", args: func(p *patient) []string {
			args := append(slices.Clone(args), p.name)
			if out != "" {
				args = append(args, "-o", "out")
			}
			return args
		}}
	}
	jobs := []*job{
		on("inspect", "", "inspect", "--rows", "3"),
		on("lint", "", "lint", "--no-cache", "--no-project", "--output-format", "concise"),
		on("diff", "", "diff", "healthy-"+s.Name),
		{name: "run", out: "train.parquet", carries: true, manifest: true, args: func(*patient) []string { return []string{"run", "p.yaml", "-q", "-o", "out", "--compression", "keep"} }},
		{name: "map", out: "train.parquet", manifest: true, args: func(p *patient) []string {
			return []string{"map", "id.star", "-q", "--source", p.name, "--split", "train", "-o", "out", "--expects", p.ward.rules}
		}},
	}
	if strings.HasPrefix(s.Name, "raw") {
		jobs = append(jobs, &job{name: "preprocess", out: "train.parquet", manifest: true, args: func(p *patient) []string {
			return []string{"preprocess", "gsm8k", "-q", "--source", p.name, "--split", "train", "-o", "out"}
		}})
	}
	if !strings.HasSuffix(s.Name, ".parquet") {
		return jobs
	}
	jobs = append(jobs, on("add", "*", "add", "added=tool_agent"), on("drop", "*", "drop", s.FirstColumn()),
		on("reshard", "train-00000-of-00002.parquet", "reshard", "--shards", "2"))
	if strings.HasPrefix(s.Name, "verl-") {
		jobs = append(jobs, on("add nested", "*", "add", "extra_info.row=@row"),
			on("rename", "*", "rename", "extra_info.index=extra_info.idx,prompt[].role=prompt[].who"))
	}
	return jobs
}

// admit makes the folder of a mutant; the caller removes it.
func (w *ward) admit(s *damageSeed, m *mutant.Mutant, name, dir string) (*patient, error) {
	p := &patient{ward: w, seed: s, Mutant: m, name: name, dir: dir}
	steps := "  - set: {path: zz_added, value: x}\n"
	if !s.keep {
		steps += "  - sample: {fraction: 0.9}\n"
	}
	pipeline := fmt.Sprintf("sources:\n  train: %s\nsteps:\n%scontract:\n  expects: [%s]\n", name, steps, w.rules)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{
		name: m.Data, "healthy-" + s.Name: s.Data, "p.yaml": []byte(pipeline),
		"id.star": []byte("def process_fn(example):\n    return dict(example)\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// onlyCarried is what the tool says of columns that it copies and cannot make.
var onlyCarried = regexp.MustCompile("which a function cannot read|can be carried, but not made|stored as INT96|its type is null, but the values|LZ4")

// measure runs the tool over the healthy seed, and leaves out jobs that it has no types for.
func (w *ward) measure(s *damageSeed) error {
	p, err := w.admit(s, &mutant.Mutant{Data: s.Data}, s.Name, filepath.Join(w.dir, "healthy-"+s.Name))
	if err != nil {
		return err
	}
	defer os.RemoveAll(p.dir)
	s.runs = map[string]*healthy{}
	before := entries(p.dir)
	var jobs []*job
	for _, j := range s.jobs {
		p.sweep(before)
		h := &healthy{run: p.run(j)}
		if j.name == "run" && !s.keep && onlyCarried.MatchString(h.output) {
			s.keep = true
			p.sweep(before)
			return w.measure(s)
		}
		if (h.status == 2 || h.status == 3) && onlyCarried.MatchString(h.output) {
			continue
		}
		if h.status > 1 || h.status == 1 && j.name != "lint" {
			return fmt.Errorf("%s, undamaged: %s: exit %d: %s", s.Name, j.name, h.status, h.output)
		}
		if j.out != "" {
			h.rows, _ = rowsHash(p.output(j)) // parquet-go cannot read every file of another writer
		}
		s.runs[j.name] = h
		jobs = append(jobs, j)
	}
	s.jobs = jobs
	if len(jobs) < 5 && strings.HasSuffix(s.Name, ".parquet") {
		return fmt.Errorf("%s: only %d commands", s.Name, len(jobs))
	}
	return nil
}

func (p *patient) output(j *job) string {
	if j.out == "*" {
		return filepath.Join(p.out(), p.name)
	}
	return filepath.Join(p.out(), j.out)
}

func (p *patient) out() string { return filepath.Join(p.dir, "out") }

// A verdict is what became of one run. Fault: what must not be. Kind otherwise: refused, found, same, other, carried.
type verdict struct {
	job, kind, fault string
	note             string // where the mutant was kept, and what the tool said
	run
}

// mutant makes mutant n and judges the tool's runs over it.
func (w *ward) mutant(n int) (out []verdict) {
	s := w.seeds[n%len(w.seeds)]
	if s.measured.Do(func() { s.err = w.measure(s) }); s.err != nil {
		return []verdict{{fault: s.err.Error()}}
	}
	m := s.Make(n)
	name := fmt.Sprintf("m%04d-%s", n, s.Name)
	p, err := w.admit(s, m, name, filepath.Join(w.dir, fmt.Sprint(n)))
	if err != nil {
		return []verdict{{fault: err.Error()}}
	}
	defer os.RemoveAll(p.dir)
	before := entries(p.dir)
	for _, j := range s.jobs {
		v := verdict{job: j.name, run: p.run(j)}
		v.kind, v.fault = p.judge(j, v.run, before)
		if v.fault != "" {
			v.fault = fmt.Sprintf("RLPREP_MUTANT=%d (%s: %s: %s): %s: %s", n, s.Name, m.Kind, m.What, j.name, v.fault)
		}
		if v.fault != "" || os.Getenv("RLPREP_MUTANT") != "" {
			kept := filepath.Join(os.TempDir(), name)
			if os.WriteFile(kept, m.Data, 0o666) == nil {
				v.note = "\n    kept: " + kept + "\n    said: " + strings.TrimSpace(v.output)
			}
		}
		out = append(out, v)
		p.sweep(before)
	}
	return out
}

// sweep removes what was not there before.
func (p *patient) sweep(before []string) {
	for _, left := range entries(p.dir) {
		if !slices.Contains(before, left) {
			os.RemoveAll(filepath.Join(p.dir, left))
		}
	}
}

// judge says what kind of end a run came to, or what is wrong with it.
func (p *patient) judge(j *job, r run, before []string) (kind, fault string) {
	broken := ""
	for _, word := range []string{"goroutine ", "panic:", "fatal error:", "panicked", "please report"} {
		if strings.Contains(r.output, word) {
			broken = word
		}
	}
	switch {
	case r.hung:
		return "", fmt.Sprintf("no end after %d s", damageSeconds)
	case broken != "":
		return "", "its output says " + broken
	case r.resident > damageResident:
		return "", fmt.Sprintf("%d MiB", r.resident>>10)
	case r.status < 0 || r.status > 3:
		return "", fmt.Sprintf("exit %d", r.status)
	case r.status >= 2 && !strings.Contains(r.output, p.name):
		return "", fmt.Sprintf("exit %d, and the message does not name the file", r.status)
	}
	if r.status >= 2 || r.status == 1 && j.out != "" {
		for _, left := range entries(p.dir) {
			if !slices.Contains(before, left) && left != ".out.rlprep" {
				return "", fmt.Sprintf("exit %d, and there is %s", r.status, left)
			}
		}
		if p.Same && p.seed.runs[j.name].status != r.status {
			return "", fmt.Sprintf("exit %d, and the seed gives %d", r.status, p.seed.runs[j.name].status)
		}
		return fmt.Sprintf("exit %d", r.status), ""
	}
	if j.out == "" {
		return p.judgeText(j, r)
	}
	return p.judgeRows(j)
}

// judgeText holds what a command says of a mutant whose rows are its seed's against what it says of the seed.
func (p *patient) judgeText(j *job, r run) (kind, fault string) {
	healthy := p.seed.runs[j.name]
	switch {
	case p.Same && j.name == "lint" && strings.ReplaceAll(r.output, p.name, p.seed.Name) != healthy.output:
		return "", "lint says: " + r.output + "of the seed: " + healthy.output
	case p.Same && j.name == "diff" && r.status != 0:
		return "", "the rows are not the seed's"
	}
	return fmt.Sprintf("exit %d", r.status), ""
}

// judgeRows looks at what was written.
func (p *patient) judgeRows(j *job) (kind, fault string) {
	out := p.output(j)
	if j.manifest {
		if r := p.command("verify", "out"); r.status != 0 {
			return "", "exit 0, but the output cannot be verified: " + r.output
		}
	}
	if err := readable(out, !j.carries); err != nil {
		return "", fmt.Sprintf("exit 0, but the output cannot be read: %v", err)
	}
	want := p.seed.runs[j.name].rows
	blind := !p.Same && !(p.seed.crc && p.Blind) // nothing says what the rows should be
	if want == "" || blind {
		return "written", ""
	}
	got, err := rowsHash(out)
	switch {
	case err == nil && got == want:
		return "the seed's rows", ""
	case !p.Same && j.carries && (err != nil || tells(out)):
		return "carried", ""
	case err != nil:
		return "", fmt.Sprintf("exit 0, but the output cannot be read: %v", err)
	}
	return "", "exit 0 and wrong rows"
}

// readable opens a file that was written and, where no chunk in it is as its source had it, reads every value.
func readable(name string, all bool) error {
	f, err := parquetio.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for g, group := range f.RowGroups() {
		for leaf := range f.Schema().Leaves() {
			if !all {
				break
			}
			r, err := f.Reader(g, []int{leaf}, 0, group.Rows)
			if err != nil {
				return err
			}
			for err == nil {
				_, err = r.Next(4096)
			}
			r.Close()
			if err != io.EOF {
				return err
			}
		}
	}
	return nil
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

func (p *patient) run(j *job) run { return p.command(j.args(p)...) }

// command runs the tool in the mutant's folder. A run that is out of CPU time ends by a signal.
func (p *patient) command(args ...string) run {
	ctx, cancel := context.WithTimeout(context.Background(), 10*damageSeconds*time.Second)
	defer cancel()
	argv := append([]string{"-c", fmt.Sprintf(`ulimit -v %d; ulimit -t %d; exec "$0" "$@"`, damageAddress, damageSeconds), p.ward.bin}, args...)
	cmd := exec.CommandContext(ctx, "sh", argv...)
	cmd.Env = toolEnv("GOMAXPROCS=1")
	cmd.Dir = p.dir
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	r := run{output: string(out), hung: ctx.Err() != nil, status: -1}
	if cmd.ProcessState == nil {
		r.output += err.Error()
		return r
	}
	r.status, r.took = cmd.ProcessState.ExitCode(), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	r.hung = r.hung || r.took >= damageSeconds*time.Second
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.resident = u.Maxrss
		if runtime.GOOS == "darwin" {
			r.resident >>= 10
		}
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

// A tally is what became of all runs.
type tally struct {
	mu       sync.Mutex
	kinds    map[string]map[string]int // by job and end
	faults   []string
	notes    []string
	resident int64
	took     time.Duration
}

func (c *tally) add(v verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil {
		c.kinds = map[string]map[string]int{}
	}
	if c.kinds[v.job] == nil {
		c.kinds[v.job] = map[string]int{}
	}
	c.kinds[v.job][v.kind]++
	if v.fault != "" {
		c.faults = append(c.faults, v.fault+v.note)
	} else if v.note != "" {
		c.notes = append(c.notes, v.job+": "+v.kind+v.note)
	}
	c.resident, c.took = max(c.resident, v.resident), max(c.took, v.took)
}

func (c *tally) report(t *testing.T) {
	for _, j := range slices.Sorted(maps.Keys(c.kinds)) {
		t.Logf("%s: %v", j, c.kinds[j])
	}
	t.Logf("at most %d MiB and %.1f s of CPU time", c.resident>>10, c.took.Seconds())
	for _, n := range c.notes {
		t.Log(n)
	}
	slices.Sort(c.faults)
	for i, f := range c.faults {
		if i == 40 {
			t.Errorf("… %d more", len(c.faults)-i)
			break
		}
		t.Error(f)
	}
}
