package yamlfile

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// The types of YAML 1.1 as PyYAML 6 has them (resolver.py), with OmegaConf's floats (_utils.py).
var (
	pyBool  = regexp.MustCompile(`^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)
	pyNull  = regexp.MustCompile(`^(?:~|null|Null|NULL|)$`)
	pyInt   = regexp.MustCompile(`^[-+]?(?:0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	pyFloat = regexp.MustCompile(`^(?:[-+]?[0-9]+(?:_[0-9]+)*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+(?:_[0-9]+)*[eE][-+]?[0-9]+|\.[0-9]+(?:_[0-9]+)*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// pyScalar types an unquoted scalar as PyYAML does below OmegaConf.
func pyScalar(s string) any {
	if s != "" && strings.IndexByte("-+.0123456789~nNyYtTfFoO", s[0]) < 0 {
		return s
	}
	switch {
	case pyNull.MatchString(s):
		return nil
	case pyBool.MatchString(s):
		c := s[0] | 0x20
		return c == 'y' || c == 't' || strings.EqualFold(s, "on")
	case pyInt.MatchString(s):
		if i, ok := integer(s); ok {
			return i
		}
	case pyFloat.MatchString(s):
		if f, ok := float(s); ok {
			return f
		}
	}
	return s
}

// integer reads an integer of pyInt, also one of minutes and seconds (1:30 is 90).
func integer(s string) (any, bool) {
	s = strings.ReplaceAll(s, "_", "")
	i := new(big.Int)
	if strings.Contains(s, ":") {
		sign := s[0] == '-'
		for _, part := range strings.Split(strings.TrimLeft(s, "+-"), ":") {
			n, err := strconv.ParseInt(part, 10, 64)
			if err != nil {
				return nil, false
			}
			i.Add(i.Mul(i, big.NewInt(60)), big.NewInt(n))
		}
		if sign {
			i.Neg(i)
		}
	} else if _, ok := i.SetString(s, 0); !ok {
		return nil, false
	}
	if i.IsInt64() {
		return i.Int64(), true
	}
	return i, true
}

// float reads a float of pyFloat.
func float(s string) (float64, bool) {
	s = strings.ReplaceAll(strings.ToLower(s), "_", "")
	switch s {
	case ".nan":
		return math.NaN(), true
	case ".inf", "+.inf":
		return math.Inf(1), true
	case "-.inf":
		return math.Inf(-1), true
	}
	if !strings.Contains(s, ":") {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil || math.IsInf(f, 0) // too large is infinite, as in Python
	}
	sum := 0.0
	for _, part := range strings.Split(strings.TrimLeft(s, "+-"), ":") {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0, false
		}
		sum = sum*60 + f
	}
	if s[0] == '-' {
		sum = -sum
	}
	return sum, true
}

// The types of YAML 1.2's core schema, with digits that underscores part and binary integers. Leading zeros are refused: YAML 1.1 takes them
// for octal, 1.2 for decimal.
var (
	ownInt   = regexp.MustCompile(`^[-+]?(?:0|[1-9][0-9_]*|0b[0-1_]+|0o[0-7_]+|0x[0-9a-fA-F_]+)$`)
	ownFloat = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$`)
	zeros    = regexp.MustCompile(`^[-+]?0[0-9_]+$`)
)

// ownScalar types an unquoted scalar of a file of rlprep's own.
func ownScalar(s string) (any, error) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil, nil
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	case ".inf", ".Inf", ".INF", "+.inf", "-.inf", ".nan", ".NaN", ".NAN":
		return nil, fmt.Errorf("%s is not supported here", s)
	}
	if strings.IndexByte("-+.0123456789", s[0]) < 0 {
		return s, nil
	}
	switch {
	case zeros.MatchString(s):
		return nil, fmt.Errorf("%s begins with 0, which some readers take for octal: quote a text, or write the number without it", s)
	case ownInt.MatchString(s):
		if i, ok := integer(s); ok {
			return i, nil
		}
	case ownFloat.MatchString(s):
		if f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64); err == nil {
			return f, nil
		}
	}
	return s, nil
}
