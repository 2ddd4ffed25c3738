package parquetio

// metadata is what the footer says beside schema and row groups.
type metadata struct{}
