"""Predictors for workers, named by tests; some do what no model should."""

from __future__ import annotations

import os
import re
import time

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ModelDamagedError
from sciextract.inference.batching import RunOptions
from sciextract.scale.interface import Work
from sciextract.scale.run import Identified
from sciextract.workflows.model_choice import ModelChoice
from tests.cli.fakes import CONFIG, MODEL, RuleExtractor

HERE = "tests.unit.scale.predictors"
IDENTIFIED = Identified(ModelChoice(options=RunOptions(threads=1)), MODEL, CONFIG)


class Poisoned(RuleExtractor):
    """Some words crash it, hang it, or make it raise."""

    def annotate(self, document: Document, /) -> AnnotatedDocument:
        if "CRASH" in document.text:
            os._exit(7)
        if "HANG" in document.text:
            re.match("(a+)+$", "a" * 64 + "b")  # no other thread of the process runs meanwhile
        if "RAISE" in document.text:
            raise RuntimeError("a tensor has no shape")
        if "SLOW" in document.text:
            time.sleep(0.02)
        return super().annotate(document)


def rule(work: Work) -> RuleExtractor:
    return RuleExtractor()


def poisoned(work: Work) -> RuleExtractor:
    return Poisoned()


def dying(work: Work) -> RuleExtractor:
    os._exit(9)


def refusing(work: Work) -> RuleExtractor:
    raise ModelDamagedError("a file of the model is cut", "get the model again")
