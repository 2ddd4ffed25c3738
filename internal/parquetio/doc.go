// Package parquetio is the only place that knows Parquet: pages in, pages out, column chunks copied.
package parquetio
