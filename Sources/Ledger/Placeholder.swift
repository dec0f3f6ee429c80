package enum LedgerPlaceholder {}
