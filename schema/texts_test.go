package schema

import (
	"slices"
	"testing"
)

func TestTexts(t *testing.T) {
	texts := NewTexts([]byte("onethreefour"), []int32{7, 10, 10, 15, 19, 19})
	var got []string
	for i := range texts.Len() {
		got = append(got, texts.At(i))
	}
	if want := []string{"one", "", "three", "four", ""}; !slices.Equal(got, want) || string(texts.All()) != "onethreefour" {
		t.Errorf("got %q of %q, want %q", got, texts.All(), want)
	}
	for at, want := range map[int]int{0: 0, 2: 0, 3: 2, 7: 2, 8: 3, 11: 3} {
		for from := 0; from <= want; from++ {
			if got := texts.IndexAt(at, from); got != want {
				t.Errorf("byte %d is in text %d, sought from %d on, want %d", at, got, from, want)
			}
		}
	}
	if one := OneText("72"); one.Len() != 1 || one.At(0) != "72" {
		t.Errorf("got %v", one)
	}
	if OneText("").Len() != 1 || (Texts{}).Len() != 0 {
		t.Error("an empty text is a text, and no texts are none")
	}
}
