"""Which mentions are called the same: normal forms, plurals, acronyms with their expansions, and the rules."""
