"""Writer of brat standoff: a folder that brat itself can show."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import OutputError
from sciextract.formats.json_lines import dump_line
from sciextract.formats.output_folder import new_folder
from sciextract.formats.sink import LineSink
from sciextract.formats.standoff.brat_conf import Configuration
from sciextract.formats.standoff.brat_file import AnnFile
from sciextract.formats.standoff.brat_notes import NOTES_FILE, SCHEMA_FILE, DocumentPaths
from sciextract.formats.standoff.standoff import LabelNames, encodable

VISUAL_FILE = "visual.conf"
_REFUSED_IN_LABELS = re.compile(r"[^A-Za-z0-9_-]")


class BratWriter:
    """Writes a .txt and a .ann file a document, and the configuration at the end.

    What brat has no place for (document keys that are no file names, labels with other characters) goes
    into ``sciextract.jsonl``, which our own reader takes into account.
    """

    def __init__(self, destination: Path, *, schema: LabelSchema | None = None) -> None:
        """Write into the folder ``destination``; types, pairs and colours come from ``schema``.

        Raises:
            OutputError: The folder has content or cannot be made.
        """
        self.losses: Counter[str] = Counter()
        self._folder = new_folder(destination)
        self._paths = DocumentPaths()
        self._labels = LabelNames(_REFUSED_IN_LABELS)
        self._configuration = Configuration(schema, self._labels)
        self._noted: set[str] = set()
        self._notes: LineSink | None = None

    def write(self, document: AnnotatedDocument) -> None:
        """Add the files of one document.

        Raises:
            OutputError: A file cannot be written, or an entity leaves the text.
        """
        text = encodable(document.document.text, self.losses)
        file = AnnFile(document, text, self._labels)
        lines = list(file.lines())
        self.losses.update(file.losses)
        self._configuration.see(file)
        name = self._paths.name_of(document.document.doc_key)
        self._note(name, document.document.doc_key, file)
        self._put(f"{name}.txt", text)
        self._put(f"{name}.ann", "".join(f"{line}\n" for line in lines))

    def close(self) -> None:
        """Write the configuration.

        Raises:
            OutputError: It cannot be written.
        """
        self._put(SCHEMA_FILE, self._configuration.annotation_conf())
        self._put(VISUAL_FILE, self._configuration.visual_conf())
        if self._notes:
            self._notes.close()

    def _put(self, name: str, content: str) -> None:
        path = self._folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "x", encoding="utf-8", errors="replace", newline="") as stream:
                stream.write(content)
        except OSError as error:
            problem = f"{path}: cannot be written: {error.strerror}"
            raise OutputError(problem, "choose another --output") from error

    def _note(self, name: str, doc_key: str, file: AnnFile) -> None:
        for label_name, label in self._labels.changed.items():
            if label_name not in self._noted:
                self._noted.add(label_name)
                self._write_note({"label": label_name, "stands_for": label})
        note: dict[str, Any] = {"doc_key": doc_key} if doc_key != name else {}
        if file.exact:
            note["fragments"] = {
                mention: [[span.char_start, span.char_end] for span in spans]
                for mention, spans in file.exact.items()
            }
        if note:
            self._write_note({"file": name} | note)

    def _write_note(self, note: dict[str, Any]) -> None:
        if self._notes is None:
            self._notes = LineSink(self._folder / NOTES_FILE)
        self._notes.write_line(dump_line(note))
