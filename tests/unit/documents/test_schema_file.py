from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from rich.color import Color, ColorSystem

from sciextract.documents.schema import EntityType, RelationType
from sciextract.documents.schema_file import (
    RESERVED_KEYS,
    bundled_schemas,
    load_schema,
    parse_schema,
)
from sciextract.errors import InputMissingError, SchemaError
from tests.shared_data import shared_path

GOOD = """
name = "mine"
title = "My labels"
version = "3"
coreference = true

[[entities]]
label = "Alloy"
key = "a"
colour = "#AA5500"
definition = "A metal of several elements."
examples = ["brass"]

[[entities]]
label = "Property"
key = "p"
colour = "#0055aa"

[[relations]]
label = "HAS"
key = "a"
colour = "#00aa55"
pairs = [["Alloy", "Property"], ["*", "Alloy"]]

[[attributes]]
label = "negated"
key = "n"
on = ["Alloy", "relation:HAS"]

[[attributes]]
label = "design"
key = "d"
on = ["abstract"]
kind = "choice"
values = ["review", "trial"]
"""


def schema_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    return path


class TestOwnFile:
    def test_all_of_it_is_read(self, tmp_path: Path) -> None:
        schema = load_schema(schema_file(tmp_path, GOOD))
        assert (schema.name, schema.title, schema.version) == ("mine", "My labels", "3")
        assert schema.coreference
        assert schema.entity("Alloy").examples == ("brass",)
        assert schema.entity("Alloy").colour == "#aa5500"
        assert [kind.label for kind in schema.attributes_of("relation:HAS")] == ["negated"]
        assert schema.attributes_of("Property") == ()
        assert schema.attribute("design").values == ("review", "trial")
        assert schema.relation("HAS").pairs == (("Alloy", "Property"), ("*", "Alloy"))

    def test_what_may_be_left_out(self, tmp_path: Path) -> None:
        text = 'name = "n"\n[[entities]]\nlabel = "L"\nkey = "l"\ncolour = "#000000"\n'
        schema = load_schema(schema_file(tmp_path, text))
        assert (schema.title, schema.version, schema.coreference) == ("n", "1", False)
        assert schema.relations == ()

    def test_a_string_with_a_folder_or_suffix_is_a_path(self, tmp_path: Path) -> None:
        assert load_schema(str(schema_file(tmp_path, GOOD))).name == "mine"

    def test_a_byte_order_mark_is_no_mistake(self, tmp_path: Path) -> None:
        assert load_schema(schema_file(tmp_path, "\ufeff" + GOOD)).name == "mine"

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputMissingError, match=r"gone\.toml"):
            load_schema(tmp_path / "gone.toml")


class TestMistakes:
    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('name = "mine"', "", "'name' is missing"),
            ('name = "mine"', 'name = ""', "key 'name' is ''; expected a word"),
            (
                'name = "mine"',
                'name = "m"\nnam = 1',
                "unknown setting 'nam'",
            ),
            ("coreference = true", 'coreference = "yes"', "coreference is 'yes'; expected bool"),
            ('version = "3"', "version = 3", "version is 3; expected str"),
            ('label = "Alloy"', "", "entities[0]: 'label' is missing"),
            ('label = "Alloy"', 'label = "Alloy "', "'Alloy '; expected printable characters"),
            ('label = "Alloy"', 'label = "An\\tAlloy"', "expected printable characters"),
            ('name = "mine"', 'name = "my own"', "'my own'; expected a word without spaces"),
            ('label = "Alloy"', 'label = "*"', "stands for every type"),
            (
                '"Property"\nkey',
                '"Alloy"\nkey',
                "entity 2 (Alloy): key 'label' is 'Alloy' a second",
            ),
            ('key = "p"', 'key = "a"', "entity 2 (Property): key 'key' is 'a', which Alloy has"),
            ('key = "p"', 'key = "pp"', "key 'key' is 'pp'; expected one printable character"),
            ('key = "p"', 'key = " "', "key 'key' is ' '; expected"),
            ('key = "p"', 'key = "\\u0301"', "expected one printable character"),
            ('key = "p"', 'key = ";"', "key 'key' is ';'; expected"),
            ('key = "p"', 'key = "1"', "none of + . / 0 1 2"),
            ('"#0055aa"', '"blue"', "key 'colour' is 'blue'; expected \"#rrggbb\""),
            ('"#0055aa"', '"#0055aaff"', "'#0055aaff'; expected"),
            ('["brass"]', '"brass"', "entities[0].examples is 'brass'; expected array"),
            ('["brass"]', '["brass", 3]', "entities[0].examples[1] is 3; expected str"),
            (
                "definition",
                "defintion",
                "entities[0]: unknown setting 'defintion'",
            ),
            (
                '["*", "Alloy"]',
                '["*", "Aloy"]',
                "unknown type 'Aloy'; choose from: Alloy, Property, *",
            ),
            ('["*", "Alloy"]', '["Alloy"]', "pairs[1] is ['Alloy']; expected array of length 2"),
            ('["*", "Alloy"]', '"Alloy"', "pairs[1] is 'Alloy'; expected array"),
            ("pairs", "symmetric = 1\npairs", "symmetric is 1; expected bool"),
            ("[[relations]]", "[relations]", "relations is {"),
            ('["abstract"]', '["paper"]', "names 'paper', which is not there; choose from: Alloy"),
            ('"choice"', '"choise"', "attributes[1].kind: Invalid enum value 'choise'"),
            ('["review", "trial"]', '["trial", "trial"]', "key 'values' has to list different"),
            ('kind = "choice"', "", "attribute 2 (design): key 'values' has to list different"),
        ],
    )
    def test_message_names_file_key_and_values(
        self, tmp_path: Path, old: str, new: str, message: str
    ) -> None:
        assert GOOD.count(old) == 1
        with pytest.raises(SchemaError) as error:
            load_schema(schema_file(tmp_path, GOOD.replace(old, new)))
        assert message in error.value.message
        assert error.value.message.startswith(str(tmp_path / "mine.toml") + ": ")

    @pytest.mark.parametrize("text", ["", "# nothing\n", 'name = "n"'])
    def test_empty_file(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(SchemaError, match="is missing"):
            load_schema(schema_file(tmp_path, text))

    def test_no_entity_types(self, tmp_path: Path) -> None:
        assert load_schema(schema_file(tmp_path, 'name = "n"\nentities = []')).entities == ()

    def test_entities_that_are_no_tables(self, tmp_path: Path) -> None:
        with pytest.raises(SchemaError, match=r"entities\[0\] is .Task.; expected object"):
            load_schema(schema_file(tmp_path, 'name = "n"\nentities = ["Task"]'))

    def test_broken_toml_has_line_and_column(self, tmp_path: Path) -> None:
        with pytest.raises(SchemaError, match=r"mine\.toml:2:9: broken TOML") as error:
            load_schema(schema_file(tmp_path, 'name = "n"\ntitle = oops\n'))
        assert "at line" not in error.value.message

    def test_toml_that_ends_early(self, tmp_path: Path) -> None:
        with pytest.raises(SchemaError, match="broken TOML"):
            load_schema(schema_file(tmp_path, 'name = "n'))

    def test_endless_nesting(self, tmp_path: Path) -> None:
        with pytest.raises(SchemaError, match="broken TOML"):
            load_schema(schema_file(tmp_path, "name = " + "[" * 50_000))

    def test_wrong_encoding(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_bytes('title = "Wörter"'.encode("latin-1"))
        with pytest.raises(SchemaError, match="byte 10 is not UTF-8"):
            load_schema(path)

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(SchemaError, match="cannot be read"):
            load_schema(tmp_path)

    @pytest.mark.parametrize("name", ["scirc", "", "SCIERC", "scierc.tml"])
    def test_an_unknown_name_lists_the_names(self, name: str) -> None:
        with pytest.raises(
            SchemaError,
            match="bio, biomedical, chemprot, empty, gad, genia, science, scier, scierc",
        ):
            load_schema(name)


BUNDLED = bundled_schemas()


class TestBundled:
    def test_their_names(self) -> None:
        assert (
            *("bio", "biomedical", "chemprot", "empty", "gad", "genia", "science", "scier"),
            "scierc",
        ) == BUNDLED

    @pytest.mark.parametrize("name", BUNDLED)
    def test_name_title_and_texts_are_there(self, name: str) -> None:
        schema = load_schema(name)
        assert schema.name == name and schema.title
        types: list[EntityType | RelationType] = [*schema.entities, *schema.relations]
        for type_ in types:
            assert len(type_.definition) > 20
            assert type_.examples
            assert type_.key not in RESERVED_KEYS

    @pytest.mark.parametrize("name", BUNDLED)
    @pytest.mark.parametrize("layer", ["entities", "relations"])
    def test_colours_differ_in_16_colours(self, name: str, layer: str) -> None:
        colours = [type_.colour for type_ in getattr(load_schema(name), layer)]
        standard = [
            Color.parse(colour).downgrade(ColorSystem.STANDARD).number for colour in colours
        ]
        assert len(set(standard)) == len(colours)

    @pytest.mark.parametrize("name", BUNDLED)
    def test_mapping_round_trip(self, name: str) -> None:
        schema = load_schema(name)
        mapping = json.loads(json.dumps(schema.to_mapping()))
        assert parse_schema(mapping, "config.json") == schema

    def test_labels_of_the_published_sets(self) -> None:
        assert load_schema("scierc").entity_labels == (
            *("Task", "Method", "Metric", "Material", "OtherScientificTerm", "Generic"),
        )
        assert load_schema("genia").entity_labels == (
            *("protein", "DNA", "RNA", "cell_type", "cell_line"),
        )
        assert set(load_schema("scier").entity_labels) == {"Method", "Task", "Dataset"}

    def test_symmetric_relations(self) -> None:
        assert load_schema("scierc").symmetric_labels == {"CONJUNCTION", "COMPARE"}
        assert load_schema("scier").symmetric_labels == {"Synonym-Of", "Compare-With"}
        assert load_schema("biomedical").symmetric_labels == frozenset()

    def test_coreference_is_on_where_a_corpus_has_it(self) -> None:
        assert [name for name in BUNDLED if load_schema(name).coreference] == ["science", "scierc"]


@pytest.mark.parametrize("name", ["scierc", "scier"])
def test_legal_pairs_cover_the_published_gold(name: str) -> None:
    schema = load_schema(name)
    total, legal = Counter[str](), Counter[str]()
    for line in shared_path(f"{name}/train.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        types = {tuple(e[:2]): e[2] for sentence in record["ner"] for e in sentence}
        for relation in (r for sentence in record["relations"] for r in sentence):
            head, tail = types[tuple(relation[:2])], types[tuple(relation[2:4])]
            total[relation[4]] += 1
            legal[relation[4]] += schema.relation(relation[4]).allows(head, tail)
    assert set(total) == set(schema.relation_labels)
    assert all(legal[label] / total[label] >= 0.99 for label in total)
