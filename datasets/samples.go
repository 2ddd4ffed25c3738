package datasets

import (
	"embed"
	"io/fs"
)

// raws are raw rows for the recipes, each as its dataset is laid out on the hub; testdata/README.md says where they come from.
//
//go:embed testdata/*/raw
var raws embed.FS

// raw is the sample in that folder of testdata.
func raw(name string) fs.FS {
	sub, err := fs.Sub(raws, "testdata/"+name+"/raw")
	if err != nil {
		panic(err) // a name that is no path
	}
	return sub
}
