"""The registry: which models there are, which one predicts, and models as files to hand on.

A registered model is a verified folder ``<name>-<hash8>`` that is never changed. A choice names a model by its
hash, for one project or for the user; choices are only ever added, so that each can be taken back.
"""
