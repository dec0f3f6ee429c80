package enum TimePlaceholder {}
