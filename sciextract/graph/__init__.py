"""One graph of what many abstracts name and relate.

A build (``building``) takes four steps, a file each: ``reading`` gets the extraction of each abstract from files and
projects, ``merging`` decides which names are one node, ``matching`` finds them in the texts, and ``derive`` makes nodes
and edges. ``extraction`` says what one abstract adds, with the rules of ``normalisation`` and ``acronyms``; all is kept
in one SQLite file (``database``). ``queries`` read it, ``export``, ``page`` and ``answers`` write files for other
programs, browsers and people. No model is loaded here: the graph is made of predictions or of corrected projects.
"""
