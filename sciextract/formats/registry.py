"""All formats, and how one is found: by id, by content, by file name.

To add a format, write a module with a :class:`~sciextract.formats.base.Reader`, a
:class:`~sciextract.formats.base.Writer`, or both, and add an entry to :data:`FORMATS`: before the formats whose
``opening`` also matches its files. What else depends on formats (help texts, ``--from``, ``--to``, folders,
archives) follows from the entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import PurePath
from typing import Any, Literal, cast

from sciextract.documents.bibliography import NAMES
from sciextract.errors import FormatError, MissingExtraError, UsageError
from sciextract.formats.base import MOST_LINES_TO_HEADER, Reader, WriterFactory


@dataclass(frozen=True, slots=True)
class FormatSpec:
    """One format and where its reader and writer live; they are imported on first use.

    Attributes:
        id: The word of ``--from`` and ``--to``.
        title: What it is, for help texts.
        suffixes: File name ends, lower case, with the dot.
        kind: Whether one source is a file or a whole folder.
        reader: ``MODULE:FUNCTION``, a :class:`~sciextract.formats.base.Reader`; empty if write-only.
        writer: ``MODULE:CALLABLE`` that makes a :class:`~sciextract.formats.base.Writer` of a
            destination; empty if read-only.
        opening: Regular expression that the first non-blank line matches when a file of any name is
            of this format; empty when content alone cannot tell. Where that line is not enough to tell (see
            :func:`~sciextract.formats.registry.needs_more`), the expression sees the first 16 KB.
        binary: Whether its files are no text: they are known by their names, and are not for a terminal.
        output: Whether a writer makes a text stream (also to standard output), one file, or a folder.
        options: Keyword arguments that the writer takes, of ``candidates``, ``gold`` and ``schema``; ``project_state`` and ``attributes`` are none, but say that documents bring theirs along.
        holds: Fields of a document that the writer has a place for, as names or ``FIELD.KEY``; ``*`` for all.
        extra: The extra of the package that its libraries come with; empty for the core's own.
        record: ``MODULE:FUNCTION`` that parses one line, where every line is a record of its own; what
            :mod:`sciextract.formats.lazy` leaves for later.
        training: Whether tools train on its files, so that an abstract without items reads as one that has none.
        empty_is_none: Whether an abstract without items reads as one that somebody has looked through, although nobody may have.
        hint: The next step, for a kind of file that is known and not read; it has no id.
    """

    id: str
    title: str
    suffixes: tuple[str, ...]
    kind: Literal["file", "folder"] = "file"
    reader: str = ""
    writer: str = ""
    opening: str = ""
    binary: bool = False
    output: Literal["stream", "file", "folder"] = "stream"
    options: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    extra: str = ""
    record: str = ""
    training: bool = False
    empty_is_none: bool = False
    hint: str = ""

    def load_reader(self) -> Reader:
        """Import and return the reader, whose records are checked.

        Raises:
            MissingExtraError: Its libraries are not installed.
        """
        from sciextract.formats.offset_check import with_fitting_offsets
        from sciextract.formats.record_check import check_item

        reader = self._load(self.reader)
        return lambda source: map(check_item, with_fitting_offsets(reader(source)))

    def load_writer(self) -> WriterFactory:
        """Import and return the maker of writers.

        Raises:
            MissingExtraError: Its libraries are not installed.
        """
        return cast(WriterFactory, self._load(self.writer))

    def load_record(self) -> Callable[..., Any]:
        """Import and return what parses a line: see :func:`sciextract.formats.json_values.read_lines`."""
        from sciextract.formats.record_check import CheckedParser

        return CheckedParser(self._load(self.record))

    def _load(self, reference: str) -> Callable[..., Any]:
        module, _, name = reference.partition(":")
        try:
            return cast(Callable[..., Any], getattr(import_module(module, __package__), name))
        except ModuleNotFoundError as error:
            if not self.extra:
                raise
            raise MissingExtraError(f"the format {self.id!r}", self.extra) from error


def _cell_named(*meanings: str) -> str:
    """A cell of a header with one of the names of some meanings."""
    names = [re.escape(name) for meaning in meanings for name in NAMES[meaning]]
    return rf"[\"']?(?:doc_key|{'|'.join(names)})[\"']?"


_CELL = r"[\"']?[\w ./():#-]{1,40}[\"']?"
_TEXT_CELL = _cell_named("text", "abstract")
_OTHER_CELL = _cell_named("key", "pmid", "doi", "title", "year", "authors")

#: What may stand before the first row of a file in columns.
_COMMENTS = r"(?:#\s*(?:newdoc|newpar|[\w.:-]+ = ).*\n)*"

# Our own exchange records keep the fields of any format that they were made from.
_NOT_OWN = r"(?!\s*\[?\s*\{\s*\"schema_version\"\s*:)"


#: The first line of an object over several lines, and what the next one does not begin with.
_SPREAD = r"\{[ \t]*(?:[^\r\n]*[^}\]\s])?[ \t]*[\r\n]+(?!\s*\{)"


def _inside(*signs: str) -> str:
    """An opening that finds one of ``signs`` anywhere in what is seen of the file."""
    return rf"(?s:(?=.*?(?:{'|'.join(signs)})))"


_DOCRED = _NOT_OWN + r"\s*[\[{]" + _inside(r'"vertexSet"\s*:\s*\[')

#: Of several formats with one suffix, the one of a file whose content is not recognised (because it is broken).
USUAL = {".json": "jsonl", ".jsonl": "jsonl", ".xml": "pubmed-xml"}

# fmt: off
#: What knows itself by its content comes first: the order is the order in which content is tried.
FORMATS: list[FormatSpec] = [
    FormatSpec("openalex", "OpenAlex works: a page of the API, a list, or JSON lines",
        (".json", ".jsonl"), reader=".json_records:read_openalex",
        opening=_NOT_OWN + r"\s*[\[{]" + _inside(r'"https://openalex\.org/W', r'"abstract_inverted_index"\s*:')),
    FormatSpec("europepmc", "Europe PMC articles: a page of its API, a list, or JSON lines",
        (".json", ".jsonl"), reader=".json_records:read_europe_pmc",
        opening=_NOT_OWN + r"\s*[\[{]" + _inside(r'"(?:resultList|authorString)"\s*:')),
    FormatSpec("datacite", "DataCite records: a page of its API, a list, or JSON lines",
        (".json", ".jsonl"), reader=".json_records:read_datacite",
        opening=_NOT_OWN + r"\s*[\[{]" + _inside(r'"descriptionType"\s*:', r'"titles"\s*:\s*\[')),
    FormatSpec("labelstudio", "Label Studio JSON export: tasks with annotations",
        (".json",), reader=".label_studio:read_labelstudio", writer=".label_studio:LabelStudioWriter", options=("schema", "attributes"),
        opening=r"\s*(?:\[" + _inside(r'"(?:annotations|completions|predictions)"\s*:\s*\[')
        + r"|\{" + _inside(r'"result"\s*:\s*\[') + r"|(?=[\[{])" + _inside(r'"annotation_id"\s*:\s*\d') + ")"),
    FormatSpec("prodigy", "Prodigy JSONL: tasks with spans, relations and an answer",
        (".jsonl", ".json"), reader=".prodigy:read_prodigy", writer=".prodigy:ProdigyWriter", options=("attributes",),
        opening=_NOT_OWN + r"\s*[\[{]"
        + _inside(r'"_(?:input|task)_hash"\s*:', r'"answer"\s*:\s*"(?:accept|reject|ignore)"', r'"ws"\s*:\s*(?:true|false)'),
        holds=("meta",)),
    FormatSpec("spacy-json", "spaCy Docs as JSON (Doc.to_json)",
        (".json", ".jsonl"), reader=".json_annotations:read_spacy_json",
        opening=_NOT_OWN + r"\s*[\[{]" + _inside(r'"ents"\s*:\s*\[')),
    FormatSpec("pubannotation", "PubAnnotation JSON: text with denotations and relations",
        (".json", ".jsonl"), reader=".json_annotations:read_pubannotation",
        opening=_NOT_OWN + r"\s*[\[{]" + _inside(r'"denotations"\s*:\s*\[')),
    FormatSpec("doccano", "doccano JSONL: labels, or entities and relations, as character offsets",
        (".jsonl", ".json"), reader=".doccano:read_doccano", writer=".doccano:DoccanoWriter", empty_is_none=True,
        opening=_NOT_OWN + r"\s*[\[{]"
        + _inside(r'"labels?"\s*:\s*\[\s*\[\s*\d', r'"start_offset"\s*:', r'"Comments"\s*:\s*\[', r'"entities"\s*:\s*\[\s*\]\s*,\s*"relations"\s*:')),
    FormatSpec("bioc-json", "BioC JSON: a collection of documents with passages",
        (".json",), reader=".bioc:read_bioc_json", writer=".bioc:BiocJsonWriter", empty_is_none=True, options=("attributes",),
        opening=r"\s*[\[{]" + _inside(r'"passages"\s*:\s*\[', r'"documents"\s*:\s*\[\s*$'),
        extra="formats"),
    FormatSpec("arxiv", "arXiv records: the API's Atom feed, or the metadata snapshot as JSON lines",
        (".atom", ".xml", ".json", ".jsonl"), reader=".arxiv:read_arxiv",
        opening=r"\s*(?:(?=<)" + _inside("http://arxiv.org/schemas/atom") + r"|\{"
        + _inside(r'"submitter"\s*:') + ")"),
    FormatSpec("s2", "Semantic Scholar records: JSON, or JSON lines",
        (".json", ".jsonl"), reader=".json_records:read_semantic_scholar",
        opening=r"\s*[\[{]" + _inside(r'"(?:paperId|corpusId|corpusid)"\s*:')),
    FormatSpec("csl", "CSL JSON, as Zotero exports it, and replies of the Crossref API",
        (".json",), reader=".json_records:read_csl", writer=".library_writers:CslWriter", options=("schema", "project_state", "attributes"),
        opening=r"\s*(?:\[\s*\{" + _inside(r'"(?:container-title|citation-key|issued|DOI)"\s*:')
        + r"|\{" + _inside(r'"message-type"\s*:\s*"work') + ")"),
    FormatSpec("pubmed-xml", "PubMed XML (efetch)",
        (".xml",), reader=".pubmed_xml:read_pubmed_xml",
        opening=r"\s*(?=<)" + _inside(r"<(?:PubmedArticle|PubmedArticleSet|MedlineCitation)\b")),
    FormatSpec("jats", "JATS XML: articles of PubMed Central, publishers and preprint servers",
        (".xml", ".nxml"), reader=".jats:read_jats",
        opening=r"\s*(?=<)"
        + _inside(r"<!DOCTYPE article\b", r"<pmc-articleset\b", r"<(?:\w+:)?(?:article|journal)-meta\b")),
    FormatSpec("xmi", "UIMA CAS XMI, one document a file, with its type system next to it",
        (".xmi",), reader=".xmi:read_xmi", writer=".cas:XmiWriter", empty_is_none=True, options=("schema", "attributes"),
        opening=r"\s*(?=<)" + _inside(r"<xmi:XMI\b", r"<typeSystemDescription\b"),
        output="folder", extra="formats"),
    FormatSpec("bioc", "BioC XML: a collection of documents with passages",
        (".xml",), reader=".bioc:read_bioc_xml", writer=".bioc:BiocXmlWriter", empty_is_none=True, options=("attributes",),
        opening=r"\s*(?=<)" + _inside(r"<collection\b"),
        extra="formats"),
    FormatSpec("bibtex", "BibTeX with `abstract` fields",
        (".bib", ".bibtex"), reader=".bibtex:read_bibtex",
        opening=r"\s*(?:%.*\n\s*)*@[A-Za-z]+\s*[{(]"),
    FormatSpec("ris", "RIS, as reference managers export it",
        (".ris",), reader=".tagged:read_ris", writer=".library_writers:RisWriter", options=("schema", "project_state", "attributes"),
        opening=r"(?:[^A-Za-z]{0,12}TY  ?- ?|[A-Z][A-Z0-9]  - )"),
    FormatSpec("nbib", "MEDLINE/nbib, PubMed's own text export",
        (".nbib", ".medline"), reader=".tagged:read_nbib",
        opening=r"(?:PMID|PMC |OWN |STAT)- "),
    FormatSpec("wos", "Web of Science, tagged export (savedrecs.txt)",
        (".ciw",), reader=".tagged:read_wos",
        opening=r"FN .*(?:Web of Science|Clarivate|Thomson|ISI\b)|PT [A-Z]\s*$"),
    FormatSpec("endnote", "EndNote, tagged export (refer)",
        (".enw",), reader=".tagged:read_endnote",
        opening=r"%0[ \t]+[A-Z]"),
    FormatSpec("pubtator", "PubTator: title and abstract lines, annotations below",
        (".pubtator",), reader=".pubtator:read_pubtator", writer=".pubtator:PubtatorWriter", empty_is_none=True, options=("attributes",),
        opening=r"[^|\s]{1,80}\|[ta]\|"),
    FormatSpec("conll", "CoNLL columns with IOB1, IOB2 or BILOU tags",
        (".conll", ".iob", ".iob2", ".bio"), reader=".conll:read_conll", writer=".conll:ConllWriter",
        opening=rf"{_COMMENTS}(?:-DOCSTART-|(?!#.* = )\S+(?:[ \t]+\S+)*[ \t]+(?:O|[BIELSU]-\S+)[ \t\r]*(?:\n|$))",
        training=True),
    FormatSpec("brat", "brat standoff: a folder of .txt and .ann files",
        (".ann",), reader=".brat:read_brat", writer=".brat_writer:BratWriter", empty_is_none=True,
        kind="folder", output="folder", options=("schema", "attributes")),
    FormatSpec("parquet", "Parquet, one row a document",
        (".parquet",), reader=".parquet:read_parquet", writer=".parquet:ParquetWriter",
        binary=True, output="file", extra="formats", holds=("*",), training=True),
    FormatSpec("xlsx", "Excel workbook, the first sheet, with a header row as a table has",
        (".xlsx", ".xlsm"), reader=".sheets:read_xlsx",
        binary=True, extra="formats"),
    FormatSpec("docbin", "spaCy DocBin",
        (".spacy",), writer="sciextract.interop.spacy_docs:DocBinWriter",
        binary=True, output="file", extra="spacy", holds=("*",), training=True),
    FormatSpec("json", "a JSON array of the records of jsonl, or one such record spread over lines",
        (".json",), reader=".jsonl:read_json", writer=".exchange:JsonWriter",
        opening=rf"(?!{_DOCRED})\s*(?:\[\s*(?:[{{\[\]]|$)|{_SPREAD})",
        options=("candidates", "project_state", "attributes"), holds=("*",)),
    FormatSpec("jsonl", "sciextract's own JSONL: text, title and abstract, or SciERC fields, one object a line",
        (".jsonl", ".json", ".ndjson"), reader=".jsonl:read_jsonl", writer=".exchange:JsonlWriter", record=".jsonl:parse_record",
        opening=rf"(?!{_DOCRED})\s*(?!{_SPREAD})\{{\s*(?:[\"}}]|$)",
        options=("candidates", "project_state", "attributes"), holds=("*",)),
    FormatSpec("scierc", "SciERC or DyGIE++ JSONL: tokens with token offsets",
        (".jsonl", ".json"), reader=".scierc:read_scierc", writer=".scierc:SciercWriter", record=".scierc:parse_record",
        options=("gold",), holds=("dataset",), training=True),
    FormatSpec("tsv", "tab-separated table with a header row; written with one row an item",
        (".tsv", ".tab"), reader=".tables:read_table", writer=".table_rows:TsvWriter", options=("attributes",),
        opening=r"(?i)kind\tdoc_key\tid\t|head_text\trelation\t|" rf"(?=.*\t)(?:{_CELL}\t)*{_TEXT_CELL}(?:\t{_CELL})*\s*$"),
    FormatSpec("csv", "comma- or semicolon-separated table with a header row; written with one row an item",
        (".csv",), reader=".tables:read_table", writer=".table_rows:CsvWriter", options=("attributes",),
        opening=rf"(?i)kind,doc_key,id,|(?=(?:.*[,;])?{_OTHER_CELL}(?:[,;]|\s*$))" rf"(?:{_CELL}[,;])*{_TEXT_CELL}(?:[,;]{_CELL})*\s*$"),
    FormatSpec("text", "plain text, one abstract a file",
        (".txt", ".text"), reader=".plain:read_text"),
    FormatSpec("paragraphs", "plain text, one abstract a paragraph, blank lines between them",
        (".txt", ".text"), reader=".plain:read_paragraphs"),
]

#: What people have next to the formats above, and would otherwise become one abstract of markup.
UNREAD: list[FormatSpec] = [
    FormatSpec("", "a CoNLL-U treebank", (".conllu",),
        opening=rf"{_COMMENTS}\d+(?:[-.]\d+)?\t[^\t\n]+\t[^\t\n]+\t(?:[A-Z]+|_)\t[^\t\n]*\t[^\t\n]*\t(?:\d+|_)\t",
        hint="it holds syntax, no entities; take its text: sed -n 's/^# text = //p' FILE > NEW.txt"),
    FormatSpec("", "a CoNLL-2012 file", (".v4_gold_conll", ".v4_auto_conll"),
        opening=r"#\s*begin document \(",
        hint="write SciERC JSON lines, which hold names and coreference"),
    FormatSpec("", "a spaCy DocBin", (".spacy",),
        binary=True,
        hint="write its Docs as spacy-json: Doc.to_json() of each, one object a line"),
    FormatSpec("", "a WebAnno TSV file", (),
        opening=r"#FORMAT=WebAnno TSV",
        hint="export UIMA CAS XMI from INCEpTION or WebAnno"),
    FormatSpec("", "a DocRED file", (),
        opening=_DOCRED,
        hint="its relations join entities, not mentions; decide which are meant, and write SciERC JSON lines"),
    FormatSpec("", "an HTML page", (".html", ".htm", ".xhtml"),
        opening=r"(?i)\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*>\s*)*<(?:!doctype\s+html|html|head|body)\b",
        hint="export BibTeX or RIS from the site, or: pandoc -t plain FILE -o NEW.txt"),
    FormatSpec("", "a TeX document", (".tex", ".ltx"),
        opening=r"(?:\s*(?:%|\\[A-Za-z]).*\n)*?\s*\\(?:documentclass|documentstyle|begin\{document\})",
        hint="copy its abstract into a .txt file, or: pandoc -f latex -t plain FILE -o NEW.txt"),
    FormatSpec("", "an RTF document", (".rtf",),
        opening=r"\s*\{\\rtf",
        hint="save it as plain text (UTF-8), or: pandoc -f rtf -t plain FILE -o NEW.txt"),
    FormatSpec("", "an EndNote XML export", (),
        opening=r"\s*(?:<\?xml[^>]*>\s*)?<xml>\s*<records>",
        hint="export it from EndNote as RefMan (RIS) or EndNote Export (.enw)"),
    FormatSpec("", "a RefWorks tagged export", (),
        opening=r"RT (?:Journal(?: Article|, Electronic)?|Book(?:, .*)?|Conference Proceedings|Dissertation.*|Generic|Abstract)\s*$",
        hint="export RIS or BibTeX"),
    FormatSpec("", "an Ovid tagged export", (),
        opening=r"\s*<\d+\.? ?>\s",
        hint="export RIS from Ovid"),
    FormatSpec("", "XML of a kind that is not read", (),
        opening=r"\s*<(?:\?xml\s|!DOCTYPE\s)",
        hint="read are PubMed, JATS, BioC, arXiv (Atom) and UIMA (XMI); or take its text out"),
]

#: Read where records of a tagged format stand below, as in the RIS of the Cochrane Library.
_UNREAD_LIST = FormatSpec("", "a list of records from the Cochrane Library or another database", (),
        opening=r"[\s_=-]*(?:(?i:record|document|citation|result|item) #?)?\d+ of \d+[ \t]*(?:- |[\r\n]|$)",
        hint="export RIS or BibTeX")
# fmt: on


_OTHER_NAMES = {"spacy": "docbin", "huggingface": "parquet", "label-studio": "labelstudio"}
"""What people call formats, and the ids."""


def get_format(format_id: str, use: Literal["read", "write"] = "read") -> FormatSpec:
    """The format of that id or common name.

    Raises:
        UsageError: There is none, or it cannot be read (written); lists the allowed ids.
    """
    allowed = readable() if use == "read" else writable()
    format_id = _OTHER_NAMES.get(format_id, format_id)
    for spec in allowed:
        if spec.id == format_id:
            return spec
    ids = ", ".join(sorted(spec.id for spec in allowed))
    known = any(spec.id == format_id for spec in FORMATS)
    problem = f"cannot {use} the format" if known else "unknown format"
    raise UsageError(f"{problem} {format_id!r}", f"formats to {use}: {ids}")


def readable() -> list[FormatSpec]:
    return [spec for spec in FORMATS if spec.reader]


def writable() -> list[FormatSpec]:
    return [spec for spec in FORMATS if spec.writer]


def recognise(name: str, head: str) -> FormatSpec:
    """The format of a file, by its first lines first, by its name second, else ``text``.

    Args:
        name: Its path; what :attr:`FormatSpec.binary` formats are known by.
        head: The first non-blank line; more of them where it is :func:`not enough <needs_more>`.

    Raises:
        FormatError: It is of a kind that is not read, or nothing readable has this name and content.
    """
    files = [spec for spec in readable() if spec.kind == "file"]
    by_name = [spec for spec in files if has_suffix(name, spec.suffixes)]
    for spec in [*by_name, *files]:
        if spec.opening and not spec.binary and re.match(spec.opening, head):
            return spec
    for unread in UNREAD:
        if has_suffix(name, unread.suffixes) or (unread.opening and re.match(unread.opening, head)):
            raise _refuse(unread, name)
    usual = USUAL.get(PurePath(name).suffix.lower(), "text")
    for spec in [*by_name, *files]:
        if spec.id == usual or (by_name and usual == "text"):
            return spec
    raise FormatError("the format cannot be recognised", path=name, hint="name it with --from")


def _refuse(unread: FormatSpec, name: str) -> FormatError:
    hint = unread.hint if unread.binary else f"{unread.hint}; --from text reads it as it stands"
    return FormatError(f"this is {unread.title}, which is not supported", path=name, hint=hint)


_TABLES = ("tsv", "csv")
_TAGGED = ("bibtex", "ris", "nbib", "wos", "endnote")
_PUBMED_TEXT = re.compile(r"(?m)\s*\d+[.:] .*\b\d{4}\b(?s:.*?)^PMID: ?\d")
_FIELD = re.compile(
    r"(?mi)^(?:FIELD |[\W_]{0,4})(title|abstract|key ?words?|summary|authors?(?: names?)?|source|journal(?: name)?|year|date"
    r"|publication (?:year|date|type)|document type|doi|pmid|issn|isbn|publisher|volume|issue|pages|language|url|accession number"
    r"|affiliations?|institution|unique identifier|database|categories|comments)(?:\(s\)|-\w{1,12})?[\"'\])}*_]*[ \t]*(?:[:=]|\r?$)"
)
_TAG = re.compile(r"(?m)^(TI|T1|AB|KW|DE|AU|A1|SO|JF|JN|PY|YR|AN|UT|DT|LA)(?: *[:-])?[ \t]")
_OF_THE_TEXT = frozenset(
    {"title", "abstract", "keyword", "keywords", "summary", "ti", "t1", "ab", "kw", "de"}
)


def recognise_export(name: str, start: str) -> FormatSpec:
    """The format of what its first line does not tell from plain text, which is read only where this is no export.

    Args:
        name: Its path.
        start: Its first lines.

    Raises:
        FormatError: It holds fields of bibliographic records in a layout that is not read.
    """
    found = {
        spec.id: opening.start()
        for spec in FORMATS
        if spec.id in _TAGGED and (opening := re.search(rf"(?m)^(?:{spec.opening})", start))
    }
    if found:
        return get_format(min(found, key=found.__getitem__))
    if re.match(_UNREAD_LIST.opening, start):
        raise _refuse(_UNREAD_LIST, name)
    for line, spec in product(start.splitlines()[:MOST_LINES_TO_HEADER], map(get_format, _TABLES)):
        if re.match(spec.opening, line):
            return spec
    if re.match(r"(?:[^\t\n]*\t){2}.*\n(?:[^\t\n]*\t){2}", start):
        return get_format("tsv")
    if re.match(r'"[^"\n]*"([,;])"[^"\n]*"\1"', start):
        return get_format("csv")
    if _PUBMED_TEXT.match(start):
        hint = "save it from PubMed in the format PubMed (.nbib); --from text reads it as it stands"
        problem = "this is a text export of PubMed, which is not supported"
        raise FormatError(problem, path=name, hint=hint)
    for pattern in (_FIELD, _TAG):
        names = dict.fromkeys([name.lower() for name in pattern.findall(start)])
        if len(names) > 2 and len(names.keys() - _OF_THE_TEXT) > 1:
            problem = f"this has lines for the fields of a record ({', '.join(names)}), in a layout that is not supported"
            hint = "export RIS, BibTeX or CSV; --from text reads it as it stands"
            raise FormatError(problem, path=name, hint=hint)
    return get_format("text")


def needs_more(line: str) -> bool:
    """Whether a first line does not tell a format: it opens XML or spread-out JSON, or may be a comment or a number."""
    is_spread = line.startswith(("[", "{")) and not line.endswith(("]", "}"))
    return is_spread or line.startswith(("<", "%", "#", "\\")) or line == "1."


def recognise_by_name(name: str) -> FormatSpec | None:
    """The format of a file whose content alone does not tell: binary ones, and parts of a folder."""
    for spec in [*readable(), *UNREAD]:
        if (spec.binary or spec.kind == "folder") and has_suffix(name, spec.suffixes):
            if not spec.reader:
                raise _refuse(spec, name)
            return spec
    return None


def recognise_folder(names: Iterable[str]) -> FormatSpec | None:
    """The format that takes a folder of such files as a whole, if one does."""
    whole = [spec for spec in readable() if spec.kind == "folder"]
    for name in names:
        for spec in whole:
            if has_suffix(name, spec.suffixes):
                return spec
    return None


def has_suffix(name: str, suffixes: Sequence[str]) -> bool:
    """Whether a file name ends in one of the suffixes (or is one of them), in any case."""
    path = PurePath(name)
    return path.suffix.lower() in suffixes or path.name.lower() in suffixes
