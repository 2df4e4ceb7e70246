"""What may be wrong with a log, a cause a file: each says how likely it makes the efforts."""
