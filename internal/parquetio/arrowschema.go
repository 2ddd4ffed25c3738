package parquetio

func (f *File) applyArrowSchema() {}
