"""Formats of corpora: UIMA CAS XMI, BioC, Parquet, Hugging Face datasets."""
