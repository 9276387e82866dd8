"""The tables and figures of SciDeBERTa (Jeong and Kim 2022) as grids of trainings."""
