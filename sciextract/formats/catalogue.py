"""All formats. A new one joins with one entry here and its module; no caller changes."""

from __future__ import annotations

from sciextract.formats.spec import FormatSpec, UnreadSpec

_CELL = r"[\"']?[\w .-]{1,40}[\"']?"
_TEXT_CELL = r"[\"']?(?:text|abstract|abstract note|summary|ab)[\"']?"
_OTHER_CELL = r"[\"']?(?:doc_key|id|key|pmid|doi|ut|eid|(?:article |document )?title|ti|year)[\"']?"
_HERE = "sciextract.formats"

#: What may stand before the first row of a file in columns.
_COMMENTS = r"(?:#\s*(?:newdoc|newpar|[\w.:-]+ = ).*\n)*"

_SCHEMA = frozenset({"schema"})
_EVERYTHING = frozenset({"*"})
# Our own exchange records keep the fields of any format that they were made from.
_NOT_OWN = r"(?!\s*\{\s*\"schema_version\"\s*:)"


def _inside(*signs: str) -> str:
    """An opening that finds one of ``signs`` anywhere in what is seen of the file."""
    return rf"(?s:(?=.*?(?:{'|'.join(signs)})))"


#: Of several formats with one suffix, the one of a file whose content tells nothing (because it is broken).
USUAL = {".json": "jsonl", ".jsonl": "jsonl", ".xml": "pubmed-xml"}

#: What knows itself by its content comes first: the order is the order in which content is tried.
FORMATS: list[FormatSpec] = [
    FormatSpec(
        "labelstudio",
        "Label Studio JSON export: tasks with annotations",
        (".json",),
        reader=f"{_HERE}.tools.labelstudio:read_labelstudio",
        writer=f"{_HERE}.tools.labelstudio_writer:LabelStudioWriter",
        opening=r"\s*(?:\["
        + _inside(r'"(?:annotations|completions|predictions)"\s*:\s*\[')
        + r"|\{"
        + _inside(r'"result"\s*:\s*\[')
        + ")",
    ),
    FormatSpec(
        "prodigy",
        "Prodigy JSONL: tasks with spans, relations and an answer",
        (".jsonl", ".json"),
        reader=f"{_HERE}.tools.prodigy:read_prodigy",
        writer=f"{_HERE}.tools.prodigy_writer:ProdigyWriter",
        opening=_NOT_OWN
        + r"\s*[\[{]"
        + _inside(
            r'"_(?:input|task)_hash"\s*:',
            r'"answer"\s*:\s*"(?:accept|reject|ignore)"',
            r'"ws"\s*:\s*(?:true|false)',
        ),
        holds=frozenset({"meta", "prodigy"}),
    ),
    FormatSpec(
        "spert",
        "SpERT JSON: sentences with tokens, entities and relations by numbers",
        (".json", ".jsonl"),
        reader=f"{_HERE}.corpora.spert:read_spert",
        writer=f"{_HERE}.corpora.spert:SpertWriter",
        opening=_NOT_OWN
        + r"\s*[\[{]"
        + _inside(r'"tokens"\s*:\s*\[\s*"')
        + _inside(r'"entities"\s*:\s*\[\s*(?:\{[^{}]*"start"\s*:|\]\s*,\s*"relations"\s*:)'),
    ),
    FormatSpec(
        "hf-jsonl",
        "Hugging Face token classification as JSON lines: tokens and ner_tags",
        (".jsonl", ".json"),
        reader=f"{_HERE}.corpora.tagged_tokens:read_tagged_tokens",
        writer=f"{_HERE}.corpora.tagged_tokens:TaggedTokensWriter",
        opening=_NOT_OWN
        + r"\s*\{"
        + _inside(r'"tokens"\s*:\s*\[\s*"')
        + _inside(r'"(?:ner_)?tags"\s*:\s*\['),
    ),
    FormatSpec(
        "doccano",
        "doccano JSONL: labels, or entities and relations, as character offsets",
        (".jsonl", ".json"),
        reader=f"{_HERE}.tools.doccano:read_doccano",
        writer=f"{_HERE}.tools.doccano_writer:DoccanoWriter",
        opening=_NOT_OWN
        + r"\s*[\[{]"
        + _inside(
            r'"labels?"\s*:\s*\[\s*\[\s*\d',
            r'"start_offset"\s*:',
            r'"Comments"\s*:\s*\[',
            r'"entities"\s*:\s*\[\s*\]\s*,\s*"relations"\s*:',
        ),
    ),
    FormatSpec(
        "cas-json",
        "UIMA CAS JSON, one document a file",
        (".json",),
        reader=f"{_HERE}.corpora.cas_json:read_cas_json",
        writer=f"{_HERE}.corpora.cas_json:CasJsonWriter",
        opening=r"\s*\{" + _inside(r'"%(?:TYPES|FEATURE_STRUCTURES|HEADER)"\s*:'),
        output="folder",
        extra="formats",
    ),
    FormatSpec(
        "bioc-json",
        "BioC JSON: a collection of documents with passages",
        (".json",),
        reader=f"{_HERE}.corpora.bioc_json:read_bioc_json",
        writer=f"{_HERE}.corpora.bioc_json:BiocJsonWriter",
        opening=r"\s*[\[{]" + _inside(r'"passages"\s*:\s*\[', r'"documents"\s*:\s*\[\s*$'),
        extra="formats",
        holds=frozenset({"bioc"}),
    ),
    FormatSpec(
        "arxiv",
        "arXiv records: the API's Atom feed, or the metadata snapshot as JSON lines",
        (".atom", ".xml", ".json", ".jsonl"),
        reader=f"{_HERE}.bibliography.arxiv:read_arxiv",
        opening=r"\s*(?:(?=<)"
        + _inside("http://arxiv.org/schemas/atom")
        + r"|\{"
        + _inside(r'"submitter"\s*:')
        + ")",
    ),
    FormatSpec(
        "s2",
        "Semantic Scholar records: JSON, or JSON lines",
        (".json", ".jsonl"),
        reader=f"{_HERE}.bibliography.semantic_scholar:read_semantic_scholar",
        opening=r"\s*[\[{]" + _inside(r'"(?:paperId|corpusId|corpusid)"\s*:'),
    ),
    FormatSpec(
        "csl",
        "CSL JSON, as Zotero exports it",
        (".json",),
        reader=f"{_HERE}.bibliography.csl:read_csl",
        opening=r"\s*\[\s*\{" + _inside(r'"(?:container-title|citation-key|issued|DOI)"\s*:'),
    ),
    FormatSpec(
        "pubmed-xml",
        "PubMed XML (efetch)",
        (".xml",),
        reader=f"{_HERE}.bibliography.pubmed_xml:read_pubmed_xml",
        opening=r"\s*(?=<)" + _inside(r"<(?:PubmedArticle|PubmedArticleSet|MedlineCitation)\b"),
    ),
    FormatSpec(
        "jats",
        "JATS XML: articles of PubMed Central, publishers and preprint servers",
        (".xml", ".nxml"),
        reader=f"{_HERE}.bibliography.jats:read_jats",
        opening=r"\s*(?=<)"
        + _inside(
            r"<!DOCTYPE article\b", r"<pmc-articleset\b", r"<(?:\w+:)?(?:article|journal)-meta\b"
        ),
    ),
    FormatSpec(
        "xmi",
        "UIMA CAS XMI, one document a file, with its type system beside it",
        (".xmi",),
        reader=f"{_HERE}.corpora.xmi:read_xmi",
        writer=f"{_HERE}.corpora.xmi:XmiWriter",
        opening=r"\s*(?=<)" + _inside(r"<xmi:XMI\b", r"<typeSystemDescription\b"),
        output="folder",
        extra="formats",
    ),
    FormatSpec(
        "bioc",
        "BioC XML: a collection of documents with passages",
        (".xml",),
        reader=f"{_HERE}.corpora.bioc_xml:read_bioc_xml",
        writer=f"{_HERE}.corpora.bioc_xml:BiocXmlWriter",
        opening=r"\s*(?=<)" + _inside(r"<collection\b"),
        extra="formats",
        holds=frozenset({"bioc"}),
    ),
    FormatSpec(
        "bibtex",
        "BibTeX with `abstract` fields",
        (".bib", ".bibtex"),
        reader=f"{_HERE}.bibliography.bibtex:read_bibtex",
        opening=r"\s*(?:%.*\n\s*)*@[A-Za-z]+\s*[{(]",
    ),
    FormatSpec(
        "ris",
        "RIS, as reference managers export it",
        (".ris",),
        reader=f"{_HERE}.bibliography.ris:read_ris",
        opening=r"(?:1\.\s+)?TY  ?- ?",
    ),
    FormatSpec(
        "nbib",
        "MEDLINE/nbib, PubMed's own text export",
        (".nbib", ".medline"),
        reader=f"{_HERE}.bibliography.nbib:read_nbib",
        opening=r"(?:PMID|PMC |OWN |STAT)- ",
    ),
    FormatSpec(
        "wos",
        "Web of Science, tagged export (savedrecs.txt)",
        (".ciw",),
        reader=f"{_HERE}.bibliography.wos:read_wos",
        opening=r"FN .*(?:Web of Science|Clarivate|Thomson|ISI\b)|PT [A-Z]\s*$",
    ),
    FormatSpec(
        "endnote",
        "EndNote, tagged export (refer)",
        (".enw",),
        reader=f"{_HERE}.bibliography.endnote:read_endnote",
        opening=r"%0[ \t]+[A-Z]",
    ),
    FormatSpec(
        "pubtator",
        "PubTator: title and abstract lines, annotations below",
        (".pubtator",),
        reader=f"{_HERE}.standoff.pubtator:read_pubtator",
        writer=f"{_HERE}.standoff.pubtator_writer:PubtatorWriter",
        opening=r"[^|\s]{1,80}\|[ta]\|",
        holds=frozenset({"pubtator"}),
    ),
    FormatSpec(
        "webanno",
        "WebAnno TSV 3, as WebAnno and INCEpTION export it, one document a file",
        (".tsv",),
        reader=f"{_HERE}.corpora.webanno:read_webanno",
        writer=f"{_HERE}.corpora.webanno:WebannoWriter",
        output="folder",
        opening=r"#FORMAT=WebAnno TSV 3",
    ),
    FormatSpec(
        "conll2012",
        "CoNLL-2012 (OntoNotes) columns with names and coreference",
        (".v4_gold_conll", ".v4_auto_conll"),
        reader=f"{_HERE}.standoff.conll2012:read_conll2012",
        writer=f"{_HERE}.standoff.conll2012:Conll2012Writer",
        opening=r"#\s*begin document \(",
        holds=frozenset({"conll2012"}),
    ),
    FormatSpec(
        "conll",
        "CoNLL columns with IOB1, IOB2 or BILOU tags",
        (".conll", ".iob", ".iob2", ".bio"),
        reader=f"{_HERE}.standoff.conll:read_conll",
        writer=f"{_HERE}.standoff.conll_writer:ConllWriter",
        opening=rf"{_COMMENTS}(?:-DOCSTART-|(?!#.* = )\S+(?:[ \t]+\S+)*[ \t]+(?:O|[BIELSU]-\S+)[ \t\r]*(?:\n|$))",
        holds=frozenset({"conll.columns"}),
    ),
    FormatSpec(
        "conll-exact",
        "CoNLL columns with document keys and exact texts",
        (".conll",),
        reader=f"{_HERE}.standoff.conll:read_conll",
        writer=f"{_HERE}.standoff.conll_writer:ExactConllWriter",
        holds=frozenset({"conll.columns"}),
    ),
    FormatSpec(
        "brat",
        "brat standoff: a folder of .txt and .ann files",
        (".ann",),
        kind="folder",
        reader=f"{_HERE}.standoff.brat:read_brat",
        writer=f"{_HERE}.standoff.brat_writer:BratWriter",
        output="folder",
        options=_SCHEMA,
        holds=frozenset({"brat"}),
    ),
    FormatSpec(
        "hf",
        "Hugging Face datasets folder (save_to_disk)",
        ("dataset_info.json", "dataset_dict.json"),
        kind="folder",
        reader=f"{_HERE}.corpora.datasets_folder:read_datasets_folder",
        writer=f"{_HERE}.corpora.datasets_folder:DatasetsFolderWriter",
        output="folder",
        extra="formats",
        holds=_EVERYTHING,
    ),
    FormatSpec(
        "parquet",
        "Parquet, one row a document",
        (".parquet",),
        reader=f"{_HERE}.corpora.parquet:read_parquet",
        writer=f"{_HERE}.corpora.parquet:ParquetWriter",
        binary=True,
        output="file",
        extra="formats",
        holds=_EVERYTHING,
    ),
    FormatSpec(
        "docbin",
        "spaCy DocBin",
        (".spacy",),
        reader=f"{_HERE}.tools.docbin:read_docbin",
        writer=f"{_HERE}.tools.docbin:DocBinWriter",
        binary=True,
        output="file",
        extra="spacy",
        holds=_EVERYTHING,
    ),
    FormatSpec(
        "json",
        "a JSON array of the records of jsonl, or one such record spread over lines",
        (".json",),
        reader=f"{_HERE}.json_array:read_json",
        writer=f"{_HERE}.json_array:JsonWriter",
        options=frozenset({"candidates"}),
        opening=r"\s*(?:\[\s*(?:[{\]]|$)|\{\s*$)",
        holds=_EVERYTHING,
    ),
    FormatSpec(
        "jsonl",
        "sciextract's own JSONL: text, title and abstract, or SciERC fields, one object a line",
        (".jsonl", ".json", ".ndjson"),
        reader=f"{_HERE}.jsonl:read_jsonl",
        record=f"{_HERE}.jsonl:parse_record",
        writer=f"{_HERE}.jsonl:JsonlWriter",
        options=frozenset({"candidates"}),
        opening=r"\s*[\[{]\s*(?:[\"{}\]]|$)",
        holds=_EVERYTHING,
    ),
    FormatSpec(
        "scierc",
        "SciERC or DyGIE++ JSONL: tokens with token offsets",
        (".jsonl", ".json"),
        reader=f"{_HERE}.scierc:read_scierc",
        record=f"{_HERE}.scierc:parse_record",
        writer=f"{_HERE}.scierc_writer:SciercWriter",
        options=frozenset({"gold"}),
        holds=frozenset({"dataset"}),
    ),
    FormatSpec(
        "tsv",
        "tab-separated table with a header row; written with one row an item",
        (".tsv", ".tab"),
        reader=f"{_HERE}.tables.tabular:read_table",
        writer=f"{_HERE}.tables.tables:TsvWriter",
        opening=r"(?i)kind\tdoc_key\tid\t|head_text\trelation\t|"
        rf"(?=.*\t)(?:{_CELL}\t)*{_TEXT_CELL}(?:\t{_CELL})*\s*$",
    ),
    FormatSpec(
        "csv",
        "comma- or semicolon-separated table with a header row; written with one row an item",
        (".csv",),
        reader=f"{_HERE}.tables.tabular:read_table",
        writer=f"{_HERE}.tables.tables:CsvWriter",
        opening=rf"(?i)kind,doc_key,id,|(?=(?:.*[,;])?{_OTHER_CELL}(?:[,;]|\s*$))"
        rf"(?:{_CELL}[,;])*{_TEXT_CELL}(?:[,;]{_CELL})*\s*$",
    ),
    FormatSpec(
        "text",
        "plain text, one abstract a file",
        (".txt", ".text"),
        reader=f"{_HERE}.plain:read_text",
    ),
    FormatSpec(
        "paragraphs",
        "plain text, one abstract a paragraph, blank lines between them",
        (".txt", ".text"),
        reader=f"{_HERE}.plain:read_paragraphs",
    ),
    FormatSpec(
        "triples",
        "tab-separated triples: head, relation, tail and where they stand",
        (".triples",),
        writer=f"{_HERE}.tables.triples:TriplesWriter",
    ),
]

#: What people have beside the formats above, and would otherwise become one abstract of markup.
UNREAD: list[UnreadSpec] = [
    UnreadSpec(
        "a CoNLL-U treebank",
        (".conllu",),
        rf"{_COMMENTS}\d+(?:[-.]\d+)?\t[^\t\n]+\t[^\t\n]+\t(?:[A-Z]+|_)\t[^\t\n]*\t[^\t\n]*\t(?:\d+|_)\t",
        "it holds syntax, no entities; take its text: sed -n 's/^# text = //p' FILE > NEW.txt",
    ),
    UnreadSpec(
        "an HTML page",
        (".html", ".htm", ".xhtml"),
        r"(?i)\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*>\s*)*<(?:!doctype\s+html|html|head|body)\b",
        "export BibTeX or RIS from the site, or: pandoc -t plain FILE -o NEW.txt",
    ),
    UnreadSpec(
        "a TeX document",
        (".tex", ".ltx"),
        r"(?:\s*(?:%|\\[A-Za-z]).*\n)*?\s*\\(?:documentclass|documentstyle|begin\{document\})",
        "copy its abstract into a .txt file, or: pandoc -f latex -t plain FILE -o NEW.txt",
    ),
    UnreadSpec(
        "an RTF document",
        (".rtf",),
        r"\s*\{\\rtf",
        "save it as plain text (UTF-8), or: pandoc -f rtf -t plain FILE -o NEW.txt",
    ),
    UnreadSpec(
        "an EndNote XML export",
        (),
        r"\s*(?:<\?xml[^>]*>\s*)?<xml>\s*<records>",
        "export it from EndNote as RefMan (RIS) or EndNote Export (.enw)",
    ),
    UnreadSpec(
        "a RefWorks tagged export",
        (),
        r"RT (?:Journal(?: Article|, Electronic)?|Book(?:, .*)?|Conference Proceedings|Dissertation.*|Generic|Abstract)\s*$",
        "export RIS or BibTeX",
    ),
    UnreadSpec(
        "an Ovid tagged export",
        (),
        r"\s*<1\. ?>\s",
        "export RIS from Ovid",
    ),
    UnreadSpec(
        "XML of a kind that is not read",
        (),
        r"\s*<(?:\?xml\s|!DOCTYPE\s)",
        "read are PubMed, JATS, BioC, arXiv (Atom) and UIMA (XMI); or take its text out",
    ),
]
