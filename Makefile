# make build         the static binary, bin/rlprep
# make demo          a first run, with the problems that are in the binary: rows before and after, shards, manifest
# make test          every test but those below
# make lint          golangci-lint with the linters of .golangci.yml: gofmt, vet, staticcheck, order of imports and others
# make docs          write docs/rules, docs/transforms, docs/recipes and the outputs in README.md anew
# make race          the tests of the packages that run in parallel, with the race detector
# make fuzz          every fuzz target for FUZZTIME (20s)
# make conformance   pyarrow, HF datasets, pandas, Polars and DuckDB read what we write (makes .venv/)
# make conformance-verl  verl 0.9.1 itself over our rows and the examples of our rules (6 GB of venv, on first use); ARGS=--write for docs
# make bench-data    GSM8K times 10 and 100, in .bench/ (1.7 GB)
# make bench         side by side with cp, DuckDB, Polars, pyarrow, HF datasets and verl's own script; ARGS=--quick for a look
# make wheel         wheels for pip, uv and pre-commit, in dist/
# make release       archives and wheels for six platforms, SBOM and checksums, in dist/; ARGS=--check builds twice and compares
# make ci            what CI runs
#
# VERSION=1.2.3 names a release; without it the version is the one in internal/cli/version.go.

VERSION     ?=
FUZZTIME    ?= 20s
ARGS        ?=
GOLANGCI    ?= github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
LDFLAGS     := -s -w $(if $(VERSION),-X github.com/rlprep/rlprep/internal/cli.release=$(VERSION))
PARALLEL    := ./internal/build ./internal/check ./internal/edit ./internal/judge ./internal/launch ./internal/program ./internal/starmap ./internal/pipeline ./internal/parquetio ./internal/shard ./internal/source ./internal/cli ./cmd/rlprep

.PHONY: help build demo test lint docs race fuzz conformance conformance-verl bench-data bench wheel release ci clean

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/rlprep ./cmd/rlprep

demo: build
	@.ci/demo bin/rlprep

test:
	go test -timeout 20m ./...

lint:
	go run $(GOLANGCI) run ./...

docs:
	go test ./internal/cli -run '^TestDocs$$' -count 1 -update
	go test ./cmd/rlprep -run '^TestReadme$$' -count 1 -update

# Left out: tests of many processes of the tool; what races within a process shows in the others.
RACE_SKIP := ^(TestAction|TestAddressSpace|TestFewDescriptors|TestFix(IsKilled|Together)|TestFramework|TestLateErrors|TestRejectsTogether|TestBombs|TestDamage|TestGuide|TestHub(Kill|Together|Places)|TestInPlace.*|TestKill|TestKillForce|TestKillOwn|TestReadme|TestSpeed|TestUmask)$$

race:
	CGO_ENABLED=1 go test -timeout 30m -race -skip '$(RACE_SKIP)' $(PARALLEL)

fuzz:
	@.ci/fuzz $(FUZZTIME)

conformance:
	sh testdata/conformance/run.sh $(ARGS)

conformance-verl:
	sh testdata/conformance/verl.sh $(ARGS)

bench-data:
	sh testdata/bench/data.sh

bench:
	sh testdata/bench/run.sh $(ARGS)

wheel:
	python3 .ci/wheel.py $(if $(VERSION),--version $(VERSION)) $(ARGS)

release:
	python3 .ci/release.py $(if $(VERSION),--version $(VERSION)) $(ARGS)

ci:
	.ci/run

clean:
	rm -rf bin dist
