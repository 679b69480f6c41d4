"""Encrypted columns of tables: pandas, Arrow, polars, DuckDB, Parquet."""
