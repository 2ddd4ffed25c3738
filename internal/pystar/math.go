package pystar

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"

	starmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// mathModule is Python's math: Starlark's without what Python lacks, with what is missing, and with Python's errors where a function is
// not defined, or its value too large.
var mathModule = &starlarkstruct.Module{Name: "math", Members: mathMembers()}

func mathMembers() starlark.StringDict {
	m := maps.Clone(starmath.Module.Members)
	delete(m, "mod")
	delete(m, "round")
	for name, v := range m {
		if f, ok := v.(*starlark.Builtin); ok {
			m[name] = builtin(name, defined(name, f))
		}
	}
	m["inf"], m["nan"], m["tau"] = starlark.Float(math.Inf(1)), starlark.Float(math.NaN()), starlark.Float(2*math.Pi)
	for name, f := range map[string]func(float64) bool{
		"isnan": math.IsNaN, "isinf": func(x float64) bool { return math.IsInf(x, 0) },
		"isfinite": func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) },
	} {
		m[name] = builtin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			x, err := oneFloat(name, args, kwargs)
			return starlark.Bool(f(x)), err
		})
	}
	for name, f := range map[string]func(float64) float64{"log10": math.Log10, "log2": math.Log2, "log1p": math.Log1p, "expm1": math.Expm1} {
		m[name] = builtin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			x, err := oneFloat(name, args, kwargs)
			if err != nil {
				return nil, err
			}
			return ofFloats(name, f(x), x)
		})
	}
	m["trunc"] = builtin("trunc", func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if _, err := oneFloat("trunc", args, kwargs); err != nil {
			return nil, err
		}
		return toInt(t, nil, args, nil)
	})
	m["isqrt"] = builtin("isqrt", ofInts(1, func(a, _ *big.Int) (*big.Int, error) {
		if a.Sign() < 0 {
			return nil, errors.New("isqrt of a negative number")
		}
		return new(big.Int).Sqrt(a), nil
	}))
	m["gcd"] = builtin("gcd", ofInts(2, func(a, b *big.Int) (*big.Int, error) {
		return new(big.Int).GCD(nil, nil, new(big.Int).Abs(a), new(big.Int).Abs(b)), nil
	}))
	m["comb"] = builtin("comb", ofInts(2, func(a, b *big.Int) (*big.Int, error) {
		if a.Sign() < 0 || b.Sign() < 0 || a.BitLen() > 12 {
			return nil, errors.New("comb takes numbers from 0 to 4095")
		}
		return new(big.Int).Binomial(a.Int64(), b.Int64()), nil
	}))
	m["factorial"] = builtin("factorial", ofInts(1, func(a, _ *big.Int) (*big.Int, error) {
		if a.Sign() < 0 || a.BitLen() > 12 {
			return nil, errors.New("factorial takes numbers from 0 to 4095")
		}
		return new(big.Int).MulRange(1, a.Int64()), nil
	}))
	return m
}

func oneFloat(name string, args starlark.Tuple, kwargs []starlark.Tuple) (float64, error) {
	var x starlark.Value
	if err := starlark.UnpackPositionalArgs(name, args, kwargs, 1, &x); err != nil {
		return 0, err
	}
	f, ok := starlark.AsFloat(x)
	if !ok {
		return 0, fmt.Errorf("%s of %s, expected a number", name, KindName(x))
	}
	return f, nil
}

// defined is a function of Starlark's, with an error where Python has one.
func defined(name string, f *starlark.Builtin) builtinFunc {
	return func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := f.CallInternal(t, args, kwargs)
		y, ok := v.(starlark.Float)
		if err != nil || !ok {
			return v, err
		}
		var in []float64
		for _, a := range args {
			x, _ := starlark.AsFloat(a)
			in = append(in, x)
		}
		return ofFloats(name, float64(y), in...)
	}
}

// ofFloats is what a function gave, with Python's errors.
func ofFloats(name string, y float64, in ...float64) (starlark.Value, error) {
	nan, inf := false, false
	for _, x := range in {
		nan, inf = nan || math.IsNaN(x), inf || math.IsInf(x, 0)
	}
	switch {
	case math.IsNaN(y) && !nan:
		return nil, fmt.Errorf("%s: not defined for %v (Python: math domain error)", name, in)
	case math.IsInf(y, 0) && !inf && !nan:
		return nil, fmt.Errorf("%s: the result for %v is too large, or not defined (Python: math range error)", name, in)
	}
	return starlark.Float(y), nil
}

// ofInts is a function of one or two integers.
func ofInts(n int, f func(a, b *big.Int) (*big.Int, error)) builtinFunc {
	return func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) != n || len(kwargs) > 0 {
			return nil, fmt.Errorf("%s takes %d integers", b.Name(), n)
		}
		var in [2]*big.Int
		for i, a := range args {
			x, ok := a.(starlark.Int)
			if !ok {
				return nil, fmt.Errorf("%s of %s, expected an integer", b.Name(), KindName(a))
			}
			if err := charge(t, bits(x)*bits(x)/1024); err != nil {
				return nil, err
			}
			in[i] = x.BigInt()
		}
		out, err := f(in[0], in[1])
		if err != nil {
			return nil, err
		}
		return starlark.MakeBigInt(out), charge(t, out.BitLen()/64)
	}
}
