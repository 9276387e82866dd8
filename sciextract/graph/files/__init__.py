"""Graphs for other programs: GraphML, JSON-LD, CSV for Neo4j, Parquet. Sentences by reference, never their text."""
