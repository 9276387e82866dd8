"""A teacher for relations only: one pass for each head, with markers around it and beside all possible tails.

The joint network reads an abstract once and sees spans by their ends. Marking the pair in the text costs a pass for
each mention and is worth several points of relation F1 (Zhong and Chen 2021, PURE, arXiv 2010.12812, section 5.1; Ye et al.
2022, PL-Marker, arXiv 2109.06067, section 3.2), so it teaches and does not serve.
"""
