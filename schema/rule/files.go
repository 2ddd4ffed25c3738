package rule

// Together groups the files that a trainer loads as one dataset: those of a split, training and validation apart. Files
// whose schema is not known are left out.
func Together(files []*File) [][]*File {
	var out [][]*File
next:
	for _, f := range files {
		if f.Schema == nil {
			continue
		}
		for i := range out {
			if SameDataset(out[i][0], f) {
				out[i] = append(out[i], f)
				continue next
			}
		}
		out = append(out, []*File{f})
	}
	return out
}

// SameDataset reports whether a trainer loads a and b as one dataset.
func SameDataset(a, b *File) bool { return a == b || a.Val == b.Val && a.Split == b.Split }
