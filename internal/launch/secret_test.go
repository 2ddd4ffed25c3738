package launch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/launch/hydra"
)

func TestSecretNames(t *testing.T) {
	for _, name := range []string{"HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "api_key", "apiKey", "APIKEY", "trainer.wandb_key", "accessToken",
		"token", "DB_PASSWORD", "db.passwd", "GOOGLE_APPLICATION_CREDENTIALS", "client_secret", "OPENAI_API_KEY", "MYSQL_PASS", "HF_TOKEN_READ", "env_vars.HUGGING_FACE_HUB_TOKEN", "auth_token",
		"GITHUB_TOKEN", "MLFLOW_TRACKING_TOKEN", "my-secret", "api-key", "ssh_key", "bot_token", "SWANLAB_API_KEY"} {
		if !secretName(name) {
			t.Errorf("%s is no secret", name)
		}
	}
	for _, name := range []string{"data.prompt_key", "data.image_key", "data.reward_fn_key", "trainer.some_key", "key", "max_token", "max_tokens", "actor.ppo_max_token_len_per_gpu",
		"tokenizer", "actor_rollout_ref.model.tokenizer_path", "TOKENIZER_PATH", "MAX_TOKENS", "eos_token", "pad_token_id", "num_tokens", "EOS_TOKEN", "PROMPT_KEY", "special_tokens",
		"use_key", "keys", "monkey", "HF_TOKEN_PATH", "PASSWORD_FILE", "first_pass", "data.secretary_path", "custom_reward_function.path", "image_token", "stop_token", "KEYBOARD", "loss_agg_mode", ""} {
		if secretName(name) {
			t.Errorf("%s is a secret", name)
		}
	}
}

// Secrets as programs make them; none of them opens anything.
const (
	hfSecret  = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
	skSecret  = "sk-proj-Ab12Cd34Ef56Gh78Ij90"
	hexSecret = "0123456789abcdef0123456789abcdef01234567"
	awsSecret = "AKIAIOSFODNN7EXAMPLE"
	ghSecret  = "ghp_0123456789abcdefABCDEF0123456789abcd"
	jwtSecret = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
)

func TestMaskText(t *testing.T) {
	for in, want := range map[string]string{
		"x " + hfSecret + " y": "x *** y",
		skSecret:               "***",
		awsSecret + "," + ghSecret + "," + jwtSecret: "***,***,***",
		"github_pat_0123456789abcdefABCDEF_x":        "***",
		"Authorization: Bearer abc":                  "Authorization: ***",
		`{"authorization": "token abc123"}`:          `{"authorization": "***"}`,
		"Bearer 0123456789abcdef":                    "Bearer ***",
		"https://user:pa55@host/x":                   "https://user:***@host/x",
		"postgresql://u:p@h:5432/db":                 "postgresql://u:***@h:5432/db",
		"https://0123456789abcdefabcd@host/x":        "https://***@host/x",
		`{"env_vars":{"WANDB_API_KEY":"SECRET6","HF_TOKEN":"SECRET7","NCCL_DEBUG":"WARN"}}`: `{"env_vars":{"WANDB_API_KEY":"***","HF_TOKEN":"***","NCCL_DEBUG":"WARN"}}`,
		`{\"HF_TOKEN\": \"a b\", \"x\": \"y\"}`:                                             `{\"HF_TOKEN\": \"***\", \"x\": \"y\"}`,
		"{'WANDB_API_KEY': 'abc', 'n': 1}":                                                  "{'WANDB_API_KEY': '***', 'n': 1}",
		"{env_vars: {HF_TOKEN: abc, A: b}}":                                                 "{env_vars: {HF_TOKEN: ***, A: b}}",
		"export HF_TOKEN=abc; export A=b && python3 m x=1":                                  "export HF_TOKEN=***; export A=b && python3 m x=1",
		`cmd="HF_TOKEN=abc python"`:                                                         `cmd="HF_TOKEN=*** python"`,
		"wandb=" + hexSecret:                                                                "wandb=***",
		"-----BEGIN RSA PRIVATE KEY-----":                                                   "***",
	} {
		if got := maskText(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	for _, plain := range []string{"data.prompt_key=question", "data.max_tokens=1024", "+data.eos_token=<|im_end|>", "token=1024", "model.tokenizer_path=/models/hf_transformers_v2",
		"hf_model_path", "risk-averse-policy-with-many-words", "sk-learn-pipeline-with-words", "commit=" + hexSecret, "https://host:8080/a?b=c", "git@github.com:o/r.git", "s3://bucket/a@b", "basic training",
		"HF_TOKEN=$HF_TOKEN", "api_key=${oc.env:OPENAI_API_KEY}", "time: 12:30", "data.train_files=['a.parquet','b.parquet']", "x={a: b, key: c}", "trainer.experiment_name=qwen2.5-7b-hf_tuned",
		"trainer.sort_key=difficulty_v2_level", "bearer of news", "a=b=c=d=e=f=g=h"} {
		if got := maskText(plain); got != plain {
			t.Errorf("%s became %s", plain, got)
		}
	}
	if got := maskText(strings.Repeat("a=", 200_000)); len(got) != 400_000 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestSecretsOfLaunch: no secret of a script gets into what a launch is told as: commands, overrides, configuration, problems and notes.
func TestSecretsOfLaunch(t *testing.T) {
	dir := t.TempDir()
	config := "trainer:\n  project_name: p\n  api_key: YAMLSECRET\n  url: https://u:YAMLSECRET@h/\ndata:\n  prompt_key: question\n  max_tokens: 7\n  eos_token: </s>\n"
	if err := os.WriteFile(filepath.Join(dir, "conf.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := interpretText(t, dir, `
export WANDB_API_KEY=SECRET1long HF_TOKEN=SECRETx
PASS_WORD=1; DB_PASSWORD=SECRET2long
export OPENAI_API_KEY=EMPTY
python3 -m verl.trainer.main_ppo --config-path=`+dir+` --config-name=conf trainer.project_name=x +trainer.wandb_key=$WANDB_API_KEY +trainer.short=$HF_TOKEN \
  "+trainer.note='the key SECRET1long'" +trainer.db=mysql://root:$DB_PASSWORD@h/x data.prompt_key=question data.max_tokens=100 model.tokenizer_path=/m/tok \
  +env.HF_TOKEN=SECRET3 "+ray.env_vars={WANDB_API_KEY: SECRET4, A: b}" '+bad={HF_TOKEN: SECRET5' +at=${TOKEN:-none} +none=EMPTY +name=${NAME}
ray job submit --runtime-env-json='{"env_vars":{"WANDB_API_KEY":"SECRET6","HF_TOKEN":"SECRET7"}}' --api-key SECRET8 -- python3 -m verl.trainer.main_ppo trainer.logger=[x]
docker run -e HF_TOKEN=SECRET9 img bash -c "export WANDB_API_KEY=SECRET10; python3 -m verl.trainer.main_ppo a.b=1"
. "/etc/SECRET1long"
`)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range res.Commands {
		c := &res.Commands[i]
		cfg := Compose(c, Options{})
		for _, part := range []any{c.Argv, c.Env, c.Overrides, c.Errors, cfg.Problems, cfg.Notes} {
			b, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b)
		}
		for _, key := range cfg.Leaves() {
			b, err := json.Marshal(hydra.JSONValue(cfg.Get(key).Any()))
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString(key + "=" + string(b) + "\n")
		}
	}
	b, err := json.Marshal(res.Notes)
	if err != nil {
		t.Fatal(err)
	}
	text.Write(b)
	all := text.String()
	if i := strings.Index(all, "SECRET"); i >= 0 && strings.Contains(strings.NewReplacer("AWS_SECRET", "").Replace(all), "SECRET") {
		t.Errorf("shown: …%s…", all[max(i-60, 0):min(i+60, len(all))])
	}
	for _, want := range []string{`"+trainer.wandb_key=***"`, `"data.prompt_key=question"`, `"data.max_tokens=100"`, `"model.tokenizer_path=/m/tok"`, `"+none=EMPTY"`, `"trainer.project_name=x"`,
		"trainer.api_key=\"***\"", `data.eos_token="\u003c/s\u003e"`, `"+trainer.db=***"`, `\"HF_TOKEN\":\"***\"`, `"HF_TOKEN=***"`, "trainer.short=\"***\""} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not shown", want)
		}
	}
}

func FuzzMaskText(f *testing.F) {
	for _, s := range []string{`{"HF_TOKEN":"x"}`, "a=b", `\"KEY\": \"v\"`, "https://u:p@h", hfSecret, "HF_TOKEN='a b' c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 {
			return
		}
		once := maskText(s)
		if strings.Contains(maskText(s+" "+hfSecret), hfSecret) {
			t.Errorf("%q hides less with more text", s)
		}
		if len(once) > len(s)+4*(strings.Count(s, "=")+strings.Count(s, ":")+1) {
			t.Errorf("%q became %q", s, once)
		}
	})
}
