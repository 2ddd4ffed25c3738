package hydra

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// sweepers are the functions of Hydra's grammar that make values for several runs.
var sweepers = map[string]bool{"choice": true, "range": true, "interval": true, "tag": true, "sort": true, "shuffle": true, "glob": true}

// eval does the casts; the other functions stay as they are.
func (c Call) eval() (any, error) {
	if sweepers[c.Name] {
		return c, nil
	}
	cast := map[string]func(any) (any, error){"int": castInt, "float": castFloat, "str": castStr, "bool": castBool}[c.Name]
	if cast == nil {
		return nil, fmt.Errorf("unknown function %q (bool, choice, float, glob, int, interval, range, shuffle, sort, str, tag)", c.Name)
	}
	value, named := c.Named["value"]
	switch {
	case named && len(c.Named) == 1 && len(c.Args) == 0:
		return each(value, cast)
	case len(c.Named) > 0 || len(c.Args) == 0:
		return nil, fmt.Errorf("%s: expected one value", c.Name)
	case len(c.Args) == 1:
		return each(c.Args[0], cast)
	}
	return each(Sweep(c.Args), cast)
}

// each applies f to v, or to what v holds.
func each(v any, f func(any) (any, error)) (any, error) {
	list := func(in []any) ([]any, error) {
		out := make([]any, len(in))
		for i, e := range in {
			var err error
			if out[i], err = each(e, f); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	switch v := v.(type) {
	case []any:
		return list(v)
	case Sweep:
		out, err := list(v)
		return Sweep(out), err
	case *Dict:
		out, err := list(v.Values)
		return &Dict{v.Keys, out}, err
	case Call:
		return v, nil
	}
	return f(v)
}

func castInt(v any) (any, error) {
	switch v := v.(type) {
	case *big.Int:
		return v, nil
	case bool:
		if v {
			return big.NewInt(1), nil
		}
		return big.NewInt(0), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Errorf("int: cannot convert %v", v)
		}
		i, _ := big.NewFloat(v).Int(nil)
		return i, nil
	case string:
		if i, ok := new(big.Int).SetString(strings.TrimSpace(v), 10); ok {
			return i, nil
		}
	}
	return nil, fmt.Errorf("int: cannot convert %v", JSONValue(v))
}

func castFloat(v any) (any, error) {
	switch v := v.(type) {
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, nil
	case bool:
		if v {
			return 1.0, nil
		}
		return 0.0, nil
	case float64:
		return v, nil
	case string:
		if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("float: cannot convert %v", JSONValue(v))
}

func castStr(v any) (any, error) { return Text(v), nil }

// Text returns a plain value (nil, bool, *big.Int, float64, string) as the cast str(…) writes it.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case *big.Int:
		return v.String()
	case float64:
		return pythonText(v)
	}
	return v.(string)
}

// pythonText is str(f).
func pythonText(f float64) string {
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return JSONValue(f).(string)
	case f != 0 && (math.Abs(f) < 1e-4 || math.Abs(f) >= 1e16):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func castBool(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case *big.Int:
		return v.Sign() != 0, nil
	case float64:
		return v != 0, nil
	case string:
		if strings.EqualFold(v, "true") || strings.EqualFold(v, "false") {
			return strings.EqualFold(v, "true"), nil
		}
	}
	return nil, fmt.Errorf("bool: cannot convert %v", JSONValue(v))
}
