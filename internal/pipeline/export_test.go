package pipeline

// SmallBuckets makes buckets of about so many bytes.
func SmallBuckets(bytes int64) { bucketBytes = bytes }
