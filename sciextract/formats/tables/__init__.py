"""Tables in and out: CSV, TSV, triples."""
