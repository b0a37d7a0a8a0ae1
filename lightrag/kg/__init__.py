"""Storage backends: one folder per engine, one file per store."""
