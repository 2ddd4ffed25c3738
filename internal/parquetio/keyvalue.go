package parquetio

// An HFPolicy says what becomes of the metadata that HF datasets keeps under the key "huggingface".
type HFPolicy uint8

// The policies.
const (
	HFAuto  HFPolicy = iota // brought up to date where it says what Arrow types cannot (Image, ClassLabel, Json …), else left out
	HFStrip                 // left out
	HFKeep                  // brought up to date, whatever it says
)

func (w *Writer) keyValues() []KeyValue { return w.o.Metadata }
