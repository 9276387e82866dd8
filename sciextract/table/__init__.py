"""Tables of what abstracts say: a row a paper, a mention or a relation, each cell with the sentence that says it."""
