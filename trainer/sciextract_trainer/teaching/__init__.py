"""Task distillation and self-training: what models say about unlabelled texts teaches a student."""
