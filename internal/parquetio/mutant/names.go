package mutant

import "fmt"

// names are those of the fields of the format, by their numbers from the footer or the page header down.
var names = map[string]string{
	"1": "version", "2": "schema", "3": "num_rows", "4": "row_groups", "5": "key_value_metadata", "6": "created_by", "7": "column_orders",
	"2.1": "schema type", "2.2": "type_length", "2.3": "repetition_type", "2.4": "name", "2.5": "num_children", "2.6": "converted_type",
	"2.7": "scale", "2.8": "precision", "2.9": "field_id", "2.10": "logical_type",
	"4.1": "columns", "4.2": "total_byte_size", "4.3": "group num_rows", "4.4": "sorting_columns", "4.5": "group file_offset",
	"4.6": "group total_compressed_size", "4.7": "ordinal",
	"4.1.1": "file_path", "4.1.2": "file_offset", "4.1.3": "meta_data", "4.1.4": "offset_index_offset", "4.1.5": "offset_index_length",
	"4.1.6": "column_index_offset", "4.1.7": "column_index_length",
	"4.1.3.1": "type", "4.1.3.2": "encodings", "4.1.3.3": "path_in_schema", "4.1.3.4": "codec", "4.1.3.5": "num_values",
	"4.1.3.6": "total_uncompressed_size", "4.1.3.7": "total_compressed_size", "4.1.3.9": "data_page_offset",
	"4.1.3.10": "index_page_offset", "4.1.3.11": "dictionary_page_offset", "4.1.3.12": "statistics", "4.1.3.13": "encoding_stats",
	"4.1.3.14": "bloom_filter_offset", "4.1.3.15": "bloom_filter_length", "4.1.3.16": "size_statistics",
	"4.1.3.12.1": "max", "4.1.3.12.2": "min", "4.1.3.12.3": "null_count", "4.1.3.12.4": "distinct_count", "4.1.3.12.5": "max_value",
	"4.1.3.12.6": "min_value", "4.1.3.12.7": "is_max_value_exact", "4.1.3.12.8": "is_min_value_exact",
	"5.1": "key", "5.2": "value",

	"page 1": "page type", "page 2": "uncompressed_page_size", "page 3": "compressed_page_size", "page 4": "crc", "page 5": "data_page_header",
	"page 7": "dictionary_page_header", "page 8": "data_page_header_v2",
	"page 5.1": "v1 num_values", "page 5.2": "v1 encoding", "page 5.3": "definition_level_encoding", "page 5.4": "repetition_level_encoding",
	"page 5.5": "v1 statistics", "page 7.1": "dictionary num_values", "page 7.2": "dictionary encoding", "page 7.3": "is_sorted",
	"page 8.1": "v2 num_values", "page 8.2": "num_nulls", "page 8.3": "v2 num_rows", "page 8.4": "v2 encoding",
	"page 8.5": "definition_levels_byte_length", "page 8.6": "repetition_levels_byte_length", "page 8.7": "is_compressed", "page 8.8": "v2 statistics",
}

// A spot is a field of a struct: the i-th field of in.
type spot struct {
	in   *value
	i    int
	name string
}

func (s spot) field() *field { return s.in.fields[s.i] }

// spots lists the fields below v. prefix is "" for a footer and "page " for a page header.
func spots(v *value, prefix string) []spot {
	var out []spot
	var walk func(v *value, path string)
	walk = func(v *value, path string) {
		for i, f := range v.fields {
			at := fmt.Sprintf("%s%d", path, f.id)
			name := names[at]
			if name == "" {
				name = at
			}
			out = append(out, spot{v, i, name})
			walk(f.value, at+".")
		}
		for _, item := range v.items {
			walk(item, path)
		}
	}
	walk(v, prefix)
	return out
}
