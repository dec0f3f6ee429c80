package enum AccountsPlaceholder {}
