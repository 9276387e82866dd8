"""Active learning: which abstracts a person had best correct next, so that few of them teach a model much."""
