package verl

import (
	"slices"
	"testing"
)

const pythonSample = `from torch.utils.data import Dataset  # (

@function_tool(
    'near', # [
)
async def find(place: str = "a, b)", *, d: dict[str, int] = {"x": 1, "y": [2]}) -> str:
    r"""Finds.

    Args:
        place: where (x
        d: more
    """


class Rows(Dataset):
    '''Rows
at the margin (
'''
    def __init__(self, data_files, config={'a': "'"}, **rest):  # )
        pass

x = 1
`

// Texts, brackets and comments do not confuse the reading of a file.
func TestPython(t *testing.T) {
	tools, sure := functionTools(pythonSample)
	if !sure || len(tools) != 1 || tools[0] != (functionTool{name: "near"}) {
		t.Errorf("tools: %+v, %v", tools, sure)
	}
	if d := defined(pythonSample, "find"); d.sure || !d.found || !slices.Equal(d.args, []string{"place=", "*", "d="}) {
		t.Errorf("a decorated function: %+v", d)
	}
	c := classOf(pythonSample, "Rows")
	if !c.found || !c.based || c.bare || !c.sure || !slices.Equal(c.args, []string{"data_files", "config=", "**rest"}) {
		t.Errorf("class: %+v", c)
	}
	if !classOf("import torch\nclass A(torch.utils.data.Dataset):\n    x = 1\n", "A").bare {
		t.Error("a Dataset without __init__")
	}
}

// A decorator before a def, on one line or on several, may change its arguments; a call before it does not.
func TestDecorated(t *testing.T) {
	for before, want := range map[string]bool{"@wraps\n": true, "@wraps(\n  x,\n)\n": true, "  @wraps\n  ": true, "call(\n)\n\n": false, "x = 1\n": false, "": false} {
		if decorated(before) != want {
			t.Errorf("%q: %v", before, !want)
		}
	}
}

// A file that ends anywhere is read without a panic.
func TestPythonCut(t *testing.T) {
	for i := range len(pythonSample) {
		functionTools(pythonSample[:i])
		classOf(pythonSample[:i], "Rows")
		defined(pythonSample[:i], "find")
		functionTools(pythonSample[i:])
		classOf(pythonSample[i:], "Rows")
	}
}
