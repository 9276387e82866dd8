"""The rules by which a mention belongs to a node. Every merge is stored with its rules, so that it can be shown."""

from __future__ import annotations

from enum import IntFlag


class MergeRule(IntFlag):
    """What had to be changed in a mention, or known about it, to find the node it means."""

    NONE = 0
    DETERMINER = 1
    CASE = 2
    HYPHEN = 4
    PLURAL = 8
    PUNCTUATION = 16
    SPACE = 32
    ACRONYM = 64
    CORPUS_ACRONYM = 128
    COREFERENCE = 256

    @property
    def words(self) -> tuple[str, ...]:
        """The rules in words, for people and files.

        >>> (MergeRule.CASE | MergeRule.PLURAL).words
        ('case', 'plural')
        """
        return tuple([_WORDS[rule] for rule in MergeRule if rule and rule in self])


_WORDS = {
    MergeRule.DETERMINER: "determiner",
    MergeRule.CASE: "case",
    MergeRule.HYPHEN: "hyphen",
    MergeRule.PLURAL: "plural",
    MergeRule.PUNCTUATION: "punctuation",
    MergeRule.SPACE: "space",
    MergeRule.ACRONYM: "acronym expanded in the same text",
    MergeRule.CORPUS_ACRONYM: "acronym with one expansion in the corpus",
    MergeRule.COREFERENCE: "coreference",
}
