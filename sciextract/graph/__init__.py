"""One graph of what many abstracts name and relate.

``normalisation``, ``acronyms`` and ``concepts`` decide which mentions mean the same, ``contribution`` what one abstract
adds, ``contributions`` reads it from files and projects, ``building`` writes it into ``database`` (one SQLite file)
through ``facts``, and ``derive`` makes nodes and edges of all facts. ``queries`` read the graph, ``export`` and
``parquet`` write it for other programs, ``page`` makes its page for browsers, ``pictures`` writes it and draws trends.
No model is loaded here: the graph is made of predictions or of corrected projects.
"""
