package enum FileSystemPlaceholder {}
