"""The current state: rows of a document, views of them, counts derived from them."""
