"""One graph of what many abstracts name and relate.

``naming`` decides which mentions mean the same, ``contribution`` what one abstract says, ``building`` brings
contributions into ``database`` (one SQLite file), ``queries`` ask it, ``files`` write it for other programs, and
``pictures`` draw it. No model is loaded here: the graph is made of predictions or of corrected projects.
"""
