"""BGV, BFV and CKKS in plain Python: docs/math/conventions.md as code, written to be read. Start at spec/README.md."""
