"""What every package may need: checks of arguments, threads, caches, files, names."""
