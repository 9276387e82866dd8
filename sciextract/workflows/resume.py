"""Going on with an output file that an earlier run left behind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import ModelMismatchError, OutputError
from sciextract.formats.base import BadRecord, ReadItem, quoted
from sciextract.workflows.output import reported_as

_BLOCK_BYTES = 1 << 16
_OTHER_RUN = "give the inputs of the first run in the same order, or choose another --output"


@dataclass(slots=True)
class EarlierRun:
    """The complete lines of an output file.

    Attributes:
        path: The file.
        export: Its format, ``jsonl`` or ``scierc``.
        model_of: The model that predicts a document now.
        byte_end: Where the last complete line ends; a torn line may follow.
        documents: Documents found done so far.
    """

    path: str
    export: str
    model_of: Callable[[Document], ModelId]
    byte_end: int
    documents: int = 0

    @classmethod
    def open(
        cls, path: str, export: str, model_of: Callable[[Document], ModelId]
    ) -> EarlierRun | None:
        """The earlier run that a file holds, ``None`` when there is no such regular file."""
        if not os.path.isfile(path):
            return None
        return cls(path, export, model_of, _end_of_last_line(path))

    def remaining(
        self, items: Iterable[ReadItem], on_skipped: Callable[[int], None] | None = None
    ) -> Iterator[ReadItem]:
        """The items without the documents that the file holds already; bad records come again.

        Every line is held against its document, one at a time, so memory stays constant. ``on_skipped`` is called
        with the number of documents that were found done so far.

        Raises:
            OutputError: A line is of another format or document, or there are more lines than documents.
            ModelMismatchError: Another model wrote the file.
        """
        lines = self.lines()
        for item in items:
            line = None if isinstance(item, BadRecord) else next(lines, None)
            if line is None or not isinstance(item, AnnotatedDocument):
                yield item
                continue
            self.check(line, item.document)
            if on_skipped:
                on_skipped(self.documents)
        if next(lines, None) is not None:
            self.refuse_more()

    def lines(self) -> Iterator[bytes]:
        """Complete lines; a torn rest is cut off after the last one, when all have been found right."""
        with open(self.path, "rb") as stream:
            while stream.tell() < self.byte_end:
                yield stream.readline()
        with reported_as(self.path):
            os.truncate(self.path, self.byte_end)

    def refuse_more(self) -> NoReturn:
        """The inputs have come to their end before the lines.

        Raises:
            OutputError: Always.
        """
        problem = f"{self.path} holds more than the {self.documents} documents of the inputs"
        raise OutputError(problem, _OTHER_RUN)

    def check(self, line: bytes, document: Document) -> None:
        """Count a line, and hold it against the document that should have made it.

        Raises:
            OutputError: It is of another format or document.
            ModelMismatchError: Another model wrote it.
        """
        self.documents += 1
        record = self._record(line)
        self._check_model(record, self.model_of(document))
        if record.get("doc_key") != document.doc_key:
            self._refuse(
                f"{quoted(record.get('doc_key'))}, the input has {quoted(document.doc_key)}"
            )
        if record.get("text_sha256", document.text_sha256) != document.text_sha256:
            self._refuse(f"a different text of {quoted(document.doc_key)} than the input")

    def _record(self, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        own = isinstance(record, dict) and ("schema_version" in record) == (self.export == "jsonl")
        if not isinstance(record, dict) or not own:
            raise OutputError(
                f"{self.path}:{self.documents}: this is not a line of --to {self.export}",
                "choose another --output",
            )
        return record

    def _check_model(self, record: dict[str, Any], model: ModelId) -> None:
        if self.export != "jsonl":
            return
        found = record.get("model")
        if found != {"name": model.name, "hash": model.hash}:
            raise ModelMismatchError(
                f"{self.path}:{self.documents}: written by {_name(found)}, this run uses {model}",
                "use the model of the file, or choose another --output",
            )

    def _refuse(self, actual: str) -> None:
        raise OutputError(f"{self.path}:{self.documents}: the line holds {actual}", _OTHER_RUN)


def _name(model: object) -> str:
    if not isinstance(model, dict):
        return "no model"
    return str(ModelId(str(model.get("name")), str(model.get("hash"))))


def _end_of_last_line(path: str) -> int:
    """Bytes up to and with the last line feed."""
    with open(path, "rb") as stream:
        end = stream.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - _BLOCK_BYTES)
            stream.seek(start)
            position = stream.read(end - start).rfind(b"\n")
            if position >= 0:
                return start + position + 1
            end = start
    return 0
