package parquetio

// A Chunk is a column chunk of an input file, carried undecoded.
type Chunk struct{}
