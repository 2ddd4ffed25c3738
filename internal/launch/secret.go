package launch

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// hidden stands for a secret in all that a launch shows: it is put there before anything is composed, judged or printed.
const hidden = "***"

// Words of names, in capitals.
var (
	secretWords = wordSet("SECRET SECRETS PASSWORD PASSWORDS PASSWD PASSPHRASE CREDENTIAL CREDENTIALS APIKEY AUTHORIZATION")

	// owners come before KEY, or before a TOKEN within a name: HF_TOKEN_READ.
	owners = wordSet(`API ACCESS PRIVATE ENCRYPTION SIGNING AUTH SSH MASTER LICENSE ACCOUNT STORAGE SERVICE DEPLOY SAS HF HUGGINGFACE FACE HUB WANDB OPENAI
		ANTHROPIC GEMINI GOOGLE DASHSCOPE DEEPSEEK MOONSHOT ZHIPU AZURE AWS GCP SWANLAB MLFLOW CLEARML COMET NEPTUNE LANGSMITH LANGFUSE WEAVE TAVILY SERPER SERPAPI
		BING EXA JINA GITHUB GH GITLAB MODELSCOPE TOGETHER GROQ MISTRAL COHERE REPLICATE RUNPOD SLACK DISCORD TELEGRAM SENTRY`)

	// ordinary come before a TOKEN that is a piece of text.
	ordinary = wordSet(`EOS BOS PAD UNK SEP CLS MASK STOP START END MAX MIN NUM SPECIAL PER NEW IMAGE IMG VIDEO AUDIO VISION THINK THINKING FIRST LAST NEXT PROMPT
		RESPONSE TOOL ANSWER CONTEXT PLACEHOLDER BEGIN OPEN CLOSE ASSISTANT SYSTEM DELIMITER PREFIX SUFFIX MIDDLE FIM NEWLINE SPACE IGNORE TOTAL EACH BY SINGLE
		PATCH ACTION DRAFT SPLIT LOSS N K LOG ADD SKIP USE IN OUT INPUT OUTPUT EXTRA`)

	places = wordSet("FILE PATH DIR FOLDER") // after a name of the above: where the secret is, not the secret
)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// nameWords splits the last part of a key, "trainer.hubApi_key", into words in capitals.
func nameWords(name string) []string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(name[i-1])) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return strings.Fields(b.String())
}

// secretName reports whether what is called name is a secret: HF_TOKEN, api_key, dbPassword; not prompt_key, max_tokens, eos_token.
func secretName(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	last, before := words[len(words)-1], ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	switch {
	case places[last]:
		return false
	case slices.ContainsFunc(words, func(w string) bool { return secretWords[w] }):
		return true
	case last == "TOKEN":
		return !ordinary[before]
	case last == "KEY":
		return owners[before]
	case last == "PASS":
		return name == strings.ToUpper(name)
	case last == "ID":
		return len(words) > 2 && before == "KEY" && words[len(words)-3] == "ACCESS"
	}
	i := slices.Index(words, "TOKEN")
	return i > 0 && owners[words[i-1]] && name == strings.ToUpper(name)
}

// number is a value that no token and no key has: 1024, 1e-6, true.
var number = regexp.MustCompile(`^(?:[-+]?[0-9]{1,12}|[-+]?[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|(?i:true|false|null|none|yes|no|on|off))$`)

// reference is a value that names where a secret is: $WANDB_API_KEY, ${oc.env:HF_TOKEN}, {{secret}}.
var reference = regexp.MustCompile(`^(?:\$\{[^}]*\}|\$[A-Za-z_][A-Za-z0-9_]*|\{\{[^}]*\}\})$`)

// isSecret reports whether value, of that name, is a secret.
func isSecret(name, value string) bool {
	bare := strings.Trim(value, `"'\`)
	words := nameWords(name)
	if bare == "" || bare == hidden || len(words) == 0 || reference.MatchString(bare) {
		return false
	}
	last := words[len(words)-1]
	switch {
	case !secretName(name):
		return last == "KEY" && random(bare)
	case last == "TOKEN" || last == "KEY":
		return !number.MatchString(bare) && !strings.HasPrefix(bare, "<")
	}
	return true
}

// random reports whether s looks like a key that a program made, which no column is named after.
func random(s string) bool {
	digits, letters := 0, 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			letters++
		case r != '-' && r != '+' && r != '=':
			return false
		}
	}
	return len(s) >= 20 && digits >= 3 && letters >= 3
}

// A shape is a secret that is known by its form. hint is in all of its kind, in capitals; the pattern's first group, and after, stay.
type shape struct {
	hint  string
	re    *regexp.Regexp
	after string
}

var secretShapes = []shape{
	{"PRIVATE KEY-----", regexp.MustCompile(`()-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]*-----END [A-Z ]*PRIVATE KEY-----)?`), ""},
	{"EYJ", regexp.MustCompile(`()\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*`), ""},
	{"AUTHORIZATION", regexp.MustCompile(`((?i:authorization)\\*["']?\s*[:=]\s*\\*["']?)(?:[A-Za-z]+\s+)?[^\s"'\\,}]+`), ""},
	{"BEARER", regexp.MustCompile(`\b((?i:bearer)\s+)[A-Za-z0-9._~+/=-]{8,}`), ""},
	{"://", regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"']*:)[^/\s@"']+@`), "@"}, // user:password@
	{"://", regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[A-Za-z0-9_-]{16,}@`), "@"},     // token@
	{"HF_", regexp.MustCompile(`()\bhf_[A-Za-z0-9]{16,}\b`), ""},
	{"GH", regexp.MustCompile(`()\bgh[pousr]_[A-Za-z0-9]{16,}`), ""},
	{"GITHUB_PAT_", regexp.MustCompile(`()\bgithub_pat_[A-Za-z0-9_]{16,}`), ""},
	{"GLPAT-", regexp.MustCompile(`()\bglpat-[A-Za-z0-9_-]{16,}`), ""},
	{"XOX", regexp.MustCompile(`()\bxox[abeoprs]-[A-Za-z0-9-]{10,}`), ""},
	{"AKIA", regexp.MustCompile(`()\bAKIA[0-9A-Z]{16}\b`), ""},
	{"ASIA", regexp.MustCompile(`()\bASIA[0-9A-Z]{16}\b`), ""},
	{"AIZA", regexp.MustCompile(`()\bAIza[0-9A-Za-z_-]{30,}`), ""},
}

// nameHints are in all names of secrets, in capitals.
var nameHints = []string{"TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL", "AUTHORIZATION", "WANDB"}

var (
	skKey  = regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}`)
	hex40  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	assign = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.-]*)(\\*["']?\s*[:=]\s*)`)
)

// maskText hides the secrets in a text: those with a known form, and the values of assignments, JSON and YAML whose names are secret.
func maskText(text string) string {
	if len(text) < 4 {
		return text
	}
	upper := strings.ToUpper(text)
	for _, k := range secretShapes {
		if strings.Contains(upper, k.hint) {
			text = k.re.ReplaceAllString(text, "${1}"+hidden+k.after)
		}
	}
	if strings.Contains(upper, "SK-") {
		text = skKey.ReplaceAllStringFunc(text, func(s string) string {
			if strings.ContainsAny(s, "0123456789") {
				return hidden
			}
			return s // sk- begins other words too
		})
	}
	if !strings.ContainsAny(text, ":=") || !slices.ContainsFunc(nameHints, func(h string) bool { return strings.Contains(upper, h) }) {
		return text
	}
	var b strings.Builder
	end := 0
	for _, m := range assign.FindAllStringSubmatchIndex(text, -1) {
		name, from := text[m[2]:m[3]], m[1]
		if from < end {
			continue // within a secret
		}
		most := len(text)
		if !secretName(name) {
			if upper := strings.ToUpper(name); !strings.HasSuffix(upper, "KEY") && !strings.Contains(upper, "WANDB") {
				continue
			}
			most = min(most, from+256) // the value alone says whether it is one
		}
		quote, value := valueAt(text[from:most])
		if isSecret(name, value) || hex40.MatchString(value) && strings.Contains(strings.ToUpper(name), "WANDB") {
			b.WriteString(text[end:from] + quote + hidden)
			end = from + len(quote) + len(value)
		}
	}
	return b.String() + text[end:]
}

// valueAt is the value that a text begins with, and the quote before it.
func valueAt(text string) (quote, value string) {
	bare := strings.TrimLeft(text, `\`)
	if bare != "" && (bare[0] == '"' || bare[0] == '\'') {
		quote = text[:len(text)-len(bare)+1]
		value, _, _ = strings.Cut(text[len(quote):], quote)
		return quote, value
	}
	if strings.HasPrefix(text, "${") {
		if i := strings.IndexByte(text, '}'); i >= 0 {
			return "", text[:i+1]
		}
	}
	if i := strings.IndexAny(text, " \t\r\n,;&|{}[]()\"'\\"); i >= 0 {
		return "", text[:i]
	}
	return "", text
}

// minSecret is the length from which on a secret is looked for in other texts: shorter ones are in ordinary words.
const minSecret = 8

// A mask hides the secrets of one launch, whose values are known from its variables.
type mask struct{ values []string }

// learn takes the value of a variable.
func (m *mask) learn(name, value string) {
	if len(value) >= minSecret && isSecret(name, value) && !slices.Contains(m.values, value) && len(m.values) < 100 {
		m.values = append(m.values, value)
	}
}

// text hides secrets in a text.
func (m *mask) text(s string) string {
	for _, v := range m.values {
		s = strings.ReplaceAll(s, v, hidden)
	}
	return maskText(s)
}

// argv hides secrets in the words of a command. made lists the variables that each word was made of.
func (m *mask) argv(words []string, made func(i int) []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		key, value, has := strings.Cut(w, "=")
		name := strings.TrimLeft(key, "+~-")
		bare := i > 0 && strings.HasPrefix(words[i-1], "-") && !strings.Contains(words[i-1], "=") && !strings.HasPrefix(w, "-")
		switch {
		case has && !strings.ContainsAny(key, " \"'{") && value != "" && (isSecret(name, value) || slices.ContainsFunc(made(i), secretName) && !number.MatchString(value)):
			out[i] = key + "=" + hidden
		case bare && isSecret(strings.TrimLeft(words[i-1], "-"), w):
			out[i] = hidden
		default:
			out[i] = m.text(w)
		}
	}
	return out
}
