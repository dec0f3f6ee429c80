package enum AccountVaultPlaceholder {}
