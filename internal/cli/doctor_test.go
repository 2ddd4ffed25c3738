package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/rlprep/rlprep/internal/doctor"
)

// TestDoctorSecrets: neither the page nor the object shows a token, a password or what proxies are called.
func TestDoctorSecrets(t *testing.T) {
	for _, endpoint := range []string{"https://me:secret1@hub.example/api?key=secret2", "me:secret1@not a url"} {
		for name, value := range map[string]string{"HF_TOKEN": "hf_secret3", "HF_ENDPOINT": endpoint, "HTTPS_PROXY": "http://u:secret4@proxy:1"} {
			t.Setenv(name, value)
		}
		for _, args := range [][]string{{"doctor", t.TempDir()}, {"doctor", "--json", t.TempDir()}} {
			code, stdout, stderr := runMain(t, args...)
			if code != ExitClean || stderr != "" || strings.Contains(stdout, "secret") {
				t.Errorf("exit %d: %s%s", code, stdout, stderr)
			}
		}
	}
}

func TestDoctorJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rlprep.yaml", []byte("targte: x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var d doctor.Diagnosis
	if err := json.Unmarshal([]byte(mustRun(t, "doctor", "--json")), &d); err != nil {
		t.Fatal(err)
	}
	if d.System.CPUs < 1 || d.System.Workers < 1 || d.Rlprep.Version != version() || d.Project == nil || !strings.Contains(d.Project.Fault, `did you mean "target"`) || d.Cache.Dir != "" {
		t.Errorf("%+v", d)
	}
}
