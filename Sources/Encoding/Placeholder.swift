package enum EncodingPlaceholder {}
