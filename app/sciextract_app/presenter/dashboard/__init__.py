"""The statistics as pages of plain values: what is drawn, in which words."""
