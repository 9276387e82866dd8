"""A folder of parts: results of a long run, each part whole, and a journal of what is done."""
