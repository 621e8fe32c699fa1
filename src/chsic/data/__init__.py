"""From what people have, files, frames and arrays, to clean columns."""
