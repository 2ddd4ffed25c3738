package launch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// snippets are ways in which launch scripts put their arguments together; each is run by bash and interpreted.
var snippets = []string{
	`MODEL=${MODEL:-Qwen/Qwen2.5-3B}; name=$(basename "${MODEL,,}"); python3 -m m a="$name" b=${MODEL##*/} c=${MODEL%%/*} d=${MODEL//\//_} e=${#MODEL} f=${MODEL:0:4} g=${MODEL^^}`,
	`declare -A cfg=([lr]=1e-6 [n]=8); for k in lr n; do args+=("trainer.$k=${cfg[$k]}"); done; python3 -m m "${args[@]}"`,
	`arr=(a=1 b=2 'c=3 4'); python3 -m m "${arr[@]:1}" "${arr[0]}" "${#arr[@]}" "${arr[*]}"`,
	`IFS=, read -ra parts <<< "x=1,y=2"; python3 -m m "${parts[@]}"`,
	"mapfile -t lines <<END\na=1\nb=2\nEND\n" + `python3 -m m "${lines[@]}"`,
	`name=VALUE; VALUE=3; python3 -m m a=${!name}`,
	`if [[ "qwen3-4b" =~ ^qwen([0-9]+)-([0-9]+)b$ ]]; then python3 -m m v=${BASH_REMATCH[1]} s=${BASH_REMATCH[2]}; fi`,
	`case "${1:-vllm}" in vllm|sglang) python3 -m m e=${1:-vllm};; *) exit 1;; esac`,
	`while getopts "n:m:" o; do case $o in n) n=$OPTARG;; m) m=$OPTARG;; esac; done; python3 -m m n=${n:-1} m=${m:-2}`,
	`total=$((1024 * 3)); half=$((total / 2 + 7 % 3)); ((i = 3, i++)); python3 -m m a=$total b=$half c=$i d=$((2 ** 10)) e=$(( (1 + 2) * 3 )) f=$((i > 3 ? 1 : 0))`,
	`for i in {0..2}; do python3 -m m rank=$i seed=$((i * 7)); done`,
	`for ((i = 0; i < 2; i++)); do python3 -m m rank=$i; done`,
	`cmd="python3 -m m a=1 b=2"; $cmd; eval "$cmd c='3 4'"`,
	`run() { local n=$1; shift; python3 -m m n=$n "$@" || return 1; }; run 4 a=1 'b= 2'; run 5`,
	`set -- a=1 b=2 "$@"; python3 -m m "$@" $# "${@:2}"`,
	`python3 -m m logger='["console","wandb"]' files="['a','b']" x=\$HOME y="\${oc.env:HOME}" z='${a.b}'`,
	"python3 -m m a=$'tab\\there' b=\"new\nline\"",
	"python3 - <<END\nprint(1)\nEND\npython3 -c 'print(1)' a=1",
	"python3 -m m a=1 2>&1 | tee log.txt; python3 -m m b=2 > out.log 2>&1 &\nwait; python3 -m m c=3 &> all.log",
	`( cd / && python3 -m m pwd=$PWD ); python3 -m m pwd2=$(pwd)`,
	`export A=1; B=2 python3 -m m; A=3 env C=4 python3 -m m a=$A`,
	`set -euo pipefail; x=$(false || echo yes); python3 -m m x=$x; [ -f nothing ] && python3 -m m never; python3 -m m after`,
	`set -e; if ! false; then python3 -m m a; fi; false || true; python3 -m m b; false; python3 -m m never`,
	`set -u; python3 -m m a=${UNSET:-x}; python3 -m m b=$UNSET; python3 -m m never`,
	`trap 'python3 -m m at_exit' EXIT; python3 -m m first; exit 0`,
	`SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"; python3 -m m d=$(basename "$SCRIPT_DIR") z=$(basename "$0")`,
	`if command -v python3 >/dev/null; then python3 -m m found; else python3 -m m missing; fi`,
	`if command -v no_such_program >/dev/null; then python3 -m m found; else python3 -m m missing; fi`,
	`[[ -n "$WANDB_API_KEY" ]] && logger=wandb || logger=console; python3 -m m l=$logger`,
	`exec python3 -m m a=1; python3 -m m never`,
	`nodes=($(seq 0 2)); for n in "${nodes[@]}"; do python3 -m m node=$n; done; python3 -m m last=${nodes[-1]}`,
	`echo "x=1" | while read -r kv; do python3 -m m "$kv"; done`,
	`printf -v stamp '%03d' 7; python3 -m m s=$stamp p=$(printf '%s,' a b)`,
	`list=(1 2 3); joined=$(IFS=,; echo "${list[*]}"); python3 -m m l="[$joined]"`,
	"python3 -m m \\\n  a=1 \\\n  # a comment ends it\n  b=2\npython3 -m m c=3",
	`OPTS="a=1 b=2"; python3 -m m $OPTS "$OPTS"; python3 -m m ${EMPTY} "${EMPTY}" ${EMPTY:+x}`,
	`DATA="['$HOME/a.parquet', '$HOME/b.parquet']"; python3 -m m data.train_files="$DATA"`,
	`function f { python3 -m m $1; }; f 1`,
	`until python3 -m m wait; do sleep 1; done; until [ -n "$go" ]; do go=1; done; python3 -m m go=$go`,
	`x=5; while [ $x -gt 3 ]; do python3 -m m x=$x; x=$((x-1)); [ $x -eq 4 ] && continue; break; done`,
	`readonly R=1; declare -r S=2; I=7; let J=I*2; typeset T=5; python3 -m m $R $S $I $J $T`,
	`shopt -s nullglob; files=(/nonexistent/*.parquet); python3 -m m n=${#files[@]}; echo *.none; python3 -m m g=*.none`,
	`python3 -m m t=~/data u=a=~/x v=~ w="~" data.files=~/x +z=~/y --dir ~/d`,
	`ulimit -n 65535; umask 022; python3 -m m a=1; time python3 -m m b=2; ! python3 -m m c=3`,
	`{ python3 -m m a=1; python3 -m m b=2; } 2>/dev/null; if true; then :; fi; python3 -m m c=$?`,
	`read -r a b <<< "1 2"; python3 -m m a=$a b=$b; unset a; python3 -m m a=${a-none}`,
	`torchrun --nproc_per_node=8 --nnodes ${NNODES:-1} -m verl.trainer.fsdp_sft_trainer data.train_files=x; accelerate launch --num_processes 2 train.py lr=1; srun --ntasks=1 bash -c "python3 -m m a=1"; sbatch job.sh`,
	`ray stop --force; ray start --head --port 6379; RAY_ADDRESS=auto ray job submit --working-dir . --runtime-env=r.yaml -- python3 -m m a=1 "b=[1,2]"`,
	"bash -c 'python3 -m m \"$@\"' _ a=1 \"b= 2\"; sh -c \"python3 -m m c=1\"; nohup env X=1 python3 -m m d=1 > log 2>&1 &\nwait",
	`a=(x y); a+=(z); b=("${a[@]/y/k}"); python3 -m m "${b[@]}" "${a[@]##x}"`,
	`case $(uname) in Linux) os=linux;; esac; python3 -m m os=$os h=${HOSTNAME:+set} n=$([ "$(nproc)" -gt 0 ] && echo some)`,
	`d=$(date +%Y); [ ${#d} -eq 4 ] && python3 -m m year; python3 -m m v="$(echo 'a  b' | tr a-z A-Z)"`,
	`if [ "$#" -lt 2 ]; then echo usage; exit 1; fi; python3 -m m never`,
	`: "${REQUIRED:?must be set}"; python3 -m m never`,
	"kv() { echo \"$1=$2\"; }; python3 -m m $(kv a 1) \"$(kv b '2 3')\" `kv c 4`",
	`source ./none.sh 2>/dev/null; . none.sh 2>/dev/null || true; python3 -m m after`,
	`python3 -m m "a=1" 'b=2'c=3 d="e"'f'$(echo g)`,
	`x='a b'; y=$x; python3 -m m $x "$y" ${x// /_}; z=($x); python3 -m m "${z[1]}"`,
	`gpus_list=${CUDA_VISIBLE_DEVICES:-0,1,2,3}; IFS=',' read -r -a gpus <<< "$gpus_list"; python3 -m m n=${#gpus[@]}`,
	`python3 -m m a=${x:=5} b=$x c=${x:+y} d="${arr[@]}" e=${@:-none} f="$*"`,
	`cat > conf.yaml <<END
a: 1
END
python3 -m m --config-path=. --config-name=conf`,
	`if python3 -m m probe; then python3 -m m ok; fi; python3 -m m one && python3 -m m two || python3 -m m three`,
	`pids=(); for i in 1; do python3 -m m i=$i & pids+=($!); done; for p in "${pids[@]}"; do wait $p; done; python3 -m m done`,
	`export VLLM_USE_V1=1 X="a b"; python3 -m m x="$X" y=$VLLM_USE_V1 z='"$X"'`,
	`test -d "$HOME/nothing" || python3 -m m missing; [ "$a" == "" -a 1 -lt 2 ] && python3 -m m both; [[ $HOME == /home/* && ! -e /x ]] && python3 -m m glob`,
}

// TestSnippetsAsBash holds the interpreter to bash for what launch scripts are made of.
func TestSnippetsAsBash(t *testing.T) {
	bin := isolated(t)
	for _, text := range snippets {
		dir := t.TempDir()
		path := filepath.Join(dir, "run.sh")
		if err := os.WriteFile(path, []byte(text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		want := bashCalls(t, bin, path, dir)
		res, err := Interpret(context.Background(), scriptAt(t, path, dir))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got [][]string
		for _, c := range res.Commands {
			if c.Carrier == "" {
				got = append(got, c.Argv)
			}
		}
		if diff := firstDifference(got, want); diff != "" {
			t.Errorf("%s\n%s\ngot  %q\nbash %q", text, diff, got, want)
		}
	}
}

// TestGaps: what is not interpreted as bash does is said.
func TestGaps(t *testing.T) {
	for _, text := range []string{
		`a=(x y); python3 -m m "${a[@]/#/k.}"`,
		`declare -A c=([x]=1 [y]=2); python3 -m m ${#c[@]}`,
		`f() { python3 -m m $FUNCNAME; }; f`,
		`declare -i I=3+4; python3 -m m $I`,
	} {
		res, err := interpretText(t, t.TempDir(), text)
		if err != nil || len(res.Notes) != 1 {
			t.Errorf("%s: notes %v, %v", text, res, err)
		}
	}
}
