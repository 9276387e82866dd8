"""What does not change: texts, tokens, records, what each source said, label schemas."""
