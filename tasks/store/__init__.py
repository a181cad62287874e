"""Keys, rows and runs on disk; the only room that touches pyarrow, duckdb and diskcache."""
