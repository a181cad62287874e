"""The stages, one per file, as plain functions; nothing here imports the engine."""
