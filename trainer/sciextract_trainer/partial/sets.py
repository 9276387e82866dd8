"""Which data sets a model learns from, and what each of them teaches: a TOML file.

```toml
groups = [["Chemical"], ["Gene"], ["protein", "DNA"]]

[[sets]]
name = "chemprot"                   # folder with train.jsonl and dev.jsonl
teaches = ["Chemical", "Gene"]      # labels of the schema; all others stay masked
relations = true                    # what is not related counts as unrelated
rename = { CHEMICAL = "Chemical", GENE = "Gene" }
join = 6                            # sentences that are documents are joined by so many
```
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sciextract.documents.schema import LabelSchema
from sciextract.errors import UsageError
from sciextract_trainer.files import Table, check_kind, read_toml, refuse_unknown, settings_from


@dataclass(frozen=True, slots=True, kw_only=True)
class TaughtSet:
    """A data set and what it teaches.

    Attributes:
        name: Its folder.
        teaches: Labels of the schema that it was annotated for.
        licence: What is stated of its licence; ends up in the model card.
        relations: Whether it was annotated for the schema's relations.
        rename: Labels of the set by those of the schema.
        join: Documents of one sentence are joined by so many; 1 leaves documents as they are.
        singles: Share of the joined sentences (0 to 1) that also stay documents of their own.
        repeat: How often a pass sees its documents.
        empty: Share of the documents without any entity (0 to 1) that are kept.
        train: Whether it trains; else it is scored only.
        nested: Whether its entities may lie in one another.
    """

    name: str
    teaches: list[str]
    licence: str
    relations: bool = False
    rename: dict[str, str] = field(default_factory=dict)
    join: int = 1
    singles: float = 0.0
    repeat: int = 1
    empty: float = 1.0
    train: bool = True
    nested: bool = False


@dataclass(frozen=True, slots=True)
class SetPlan:
    """All sets of a model.

    Attributes:
        sets: The sets.
        groups: Groups of labels that exclude each other.
    """

    sets: tuple[TaughtSet, ...]
    groups: tuple[tuple[str, ...], ...]


_KEYS = {"sets": "list[dict[str, Any]]", "groups": "list[list[str]]"}


def load_sets(path: Path, schema: LabelSchema) -> SetPlan:
    """Reads and checks a plan.

    Raises:
        InputMissingError: The file does not exist.
        UsageError: It is not TOML, or a set has an unknown key, a value of another type or one that cannot work,
            or a label that the schema lacks; names the place, the value and the values allowed.
    """
    values = read_toml(path, "plan of data sets", "a plan is a TOML file in UTF-8")
    refuse_unknown(values, _KEYS, str(path))
    for key, kind in _KEYS.items():
        check_kind(values.get(key, []), kind, f"{path}: {key}")
    sets = tuple(
        _set_of(each, f"{path}: sets[{row}]", schema)
        for row, each in enumerate(values.get("sets", []))
    )
    if not sets:
        raise UsageError(f"{path}: no [[sets]]", "name at least one data set and what it teaches")
    groups = tuple(tuple(group) for group in values.get("groups", []))
    _check_groups(groups, schema, path)
    return SetPlan(sets, groups)


def _set_of(values: Table, place: str, schema: LabelSchema) -> TaughtSet:
    found = settings_from(TaughtSet, values, place)
    labels = set(schema.entity_labels)
    allowed = f"labels of the schema {schema.name}: {', '.join(schema.entity_labels)}"
    for label in found.teaches:
        if label not in labels:
            raise UsageError(f"{place}: teaches {label!r}", allowed)
    for label in found.rename.values():
        if label not in found.teaches:
            raise UsageError(
                f"{place}: renames to {label!r}, which it does not teach",
                f"it teaches {', '.join(found.teaches)}",
            )
    _check_numbers(found, place)
    return found


def _check_numbers(found: TaughtSet, place: str) -> None:
    for key in ("join", "repeat"):
        if getattr(found, key) < 1:
            raise UsageError(f"{place}: {key} = {getattr(found, key)}", "at least 1")
    for key in ("singles", "empty"):
        if not 0 <= getattr(found, key) <= 1:
            raise UsageError(f"{place}: {key} = {getattr(found, key)}", "between 0 and 1")


def _check_groups(groups: tuple[tuple[str, ...], ...], schema: LabelSchema, path: Path) -> None:
    named = sorted(label for group in groups for label in group)
    if groups and named != sorted(schema.entity_labels):
        raise UsageError(
            f"{path}: the groups hold {', '.join(named)}",
            f"each label of the schema once: {', '.join(schema.entity_labels)}",
        )
