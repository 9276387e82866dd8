"""Words and their subwords, for every kind of tokenizer: frame, word starts, no neighbours, limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tiers import examples

pytest.importorskip("torch")

from sciextract.inference.tokenization import SubwordTokenizer
from sciextract_trainer.build import SubwordRules, load_subword_rules
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.encoders.tiny import (
    POSITIONS,
    TEXTS,
    byte_level_tokenizer,
    change_json,
    unigrams,
)

FRAMES = {
    "bert": ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]"),
    "bert-of-2019": ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]"),
    "roberta": ("<s>", "</s>", "<unk>", "<mask>", "<pad>"),
    "albert": ("[CLS]", "[SEP]", "<unk>", "[MASK]", "<pad>"),
    "electra": ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]"),
    "deberta": ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]"),
    "deberta-v2": ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]"),
    "deberta-v3": ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]"),
    "distilbert": ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]"),
    "mobilebert": ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]"),
    "word-vectors": ("", "", "[UNK]", "[UNK]", "[PAD]"),
    "lstm": ("", "", "[UNK]", "[UNK]", "[PAD]"),
}
CASED = {"bert-of-2019", "roberta", "deberta", "deberta-v2", "deberta-v3"}

PLAIN = st.text("abKZé1.-(β漢🧬\u0301 ", min_size=1, max_size=8).map(str.split)


def subword(rules: SubwordRules, number: int) -> str:
    return rules.tokenizer.id_to_token(number) or ""


def decoded(rules: SubwordRules, ids: list[int]) -> str:
    """The text of some subwords, without blanks."""
    tokenizer = rules.tokenizer
    subwords = [subword(rules, number) for number in ids]
    if tokenizer.decoder is None:
        return "".join(subwords)
    return str(tokenizer.decoder.decode(subwords)).replace(" ", "")


def test_the_frame_and_the_special_subwords(family: str, family_rules: SubwordRules) -> None:
    rules = family_rules
    frame = ["".join(subword(rules, n) for n in part) for part in (rules.prefix, rules.suffix)]
    special = [subword(rules, n) for n in (rules.unknown, rules.mask, rules.pad)]
    assert (*frame, *special) == FRAMES[family]


def test_the_limit_leaves_room_for_the_frame(family: str, family_rules: SubwordRules) -> None:
    assert family_rules.limit == (512 if family in ("word-vectors", "lstm") else POSITIONS - 2)


def test_the_subwords_of_a_word_are_the_word(family: str, family_rules: SubwordRules) -> None:
    encoder = family_rules.encoder()
    words = [word for text in TEXTS for word in text.replace(".", " .").split()]
    split = encoder.split(words)
    frame = encoder.frame(split, 0, len(words))
    for word, first, last in zip(words, frame.word_first, frame.word_last, strict=True):
        ids = frame.input_ids[first : last + 1].tolist()
        if family_rules.unknown not in ids:
            assert decoded(family_rules, ids) == (word if family in CASED else word.lower())
    assert (split.ids == family_rules.unknown).mean() < 0.1


@settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(words=st.lists(PLAIN, max_size=6).map(lambda parts: [w for part in parts for w in part]))
def test_subwords_know_no_neighbours(family_rules: SubwordRules, words: list[str]) -> None:
    together = family_rules.encoder().split(words)
    alone = [family_rules.encoder().split([word]).ids.tolist() for word in words]
    assert together.ids.tolist() == [number for ids in alone for number in ids]


def test_every_word_starts_as_after_a_space(make_encoder: Callable[[str], Path]) -> None:
    for family, mark in (("roberta", "Ġ"), ("deberta", "Ġ"), ("albert", "▁"), ("deberta-v3", "▁")):
        rules = load_subword_rules(str(make_encoder(family)))
        split = rules.encoder().split(["networks", "networks", "(", "-ish"])
        firsts = [subword(rules, split.ids[start]) for start in split.starts[:-1]]
        assert all(first.startswith(mark) for first in firsts), family


def test_a_split_before_the_bytes_marks_each_word_once(encoder_copy: Callable[[str], Path]) -> None:
    folder = encoder_copy("roberta")
    split = {
        "type": "Split",
        "pattern": {"Regex": " ?[A-Za-z]+| ?[^A-Za-z ]+"},
        "behavior": "Isolated",
        "invert": False,
    }
    with_bytes = {
        "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False,
    }  # fmt: skip
    outer = {"type": "Sequence", "pretokenizers": [split, with_bytes]}
    change_json(folder / "tokenizer.json", pre_tokenizer=outer)
    rules = load_subword_rules(str(folder))
    subwords = [subword(rules, n) for n in rules.encoder().split(["kite-ish"]).ids]
    assert "".join(subwords) == "Ġkite-ish"


def test_what_the_tokenizer_file_says_holds(encoder_copy: Callable[[str], Path]) -> None:
    """transformers builds BERT's tokenizer anew from the vocabulary, lower-casing unless told."""
    folder = encoder_copy("bert")
    file = folder / "tokenizer.json"
    normalizer = {**json.loads(file.read_text(encoding="utf-8"))["normalizer"], "lowercase": False}
    change_json(file, normalizer=normalizer)
    change_json(folder / "tokenizer_config.json", do_lower_case=None)
    rules = load_subword_rules(str(folder))
    assert rules.encoder().split(["KITE"]).ids.tolist() == [rules.unknown]


def test_a_cased_vocabulary_is_not_lower_cased(make_encoder: Callable[[str], Path]) -> None:
    rules = load_subword_rules(str(make_encoder("bert-of-2019")))
    upper, lower = (rules.encoder().split([word]).ids.tolist() for word in ("Kite", "kite"))
    assert upper != lower


def test_no_mask_no_padding_no_unknown_subword(encoder_copy: Callable[[str], Path]) -> None:
    folder = encoder_copy("roberta")
    file = folder / "tokenizer_config.json"
    change_json(file, tokenizer_class="PreTrainedTokenizerFast")
    change_json(file, mask_token=None, pad_token=None, unk_token=None)
    rules = load_subword_rules(str(folder))
    assert rules.unknown == rules.mask == rules.prefix[0]
    assert rules.pad == 1  # as config.json says
    assert rules.encoder().split(["\x00", "kite"]).counts.min() >= 1


def test_no_frame_at_all(encoder_copy: Callable[[str], Path]) -> None:
    folder = encoder_copy("roberta")
    change_json(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    change_json(folder / "tokenizer.json", post_processor=None)
    rules = load_subword_rules(str(folder))
    assert rules.prefix == rules.suffix == () and rules.limit == POSITIONS


def test_few_positions_cut_words_and_windows(encoder_copy: Callable[[str], Path]) -> None:
    from sciextract.inference.tokenization import plan_windows

    folder = encoder_copy("deberta")
    change_json(folder / "config.json", max_position_embeddings=24)
    rules = load_subword_rules(str(folder))
    assert rules.limit == 22
    encoder = rules.encoder()
    for item in TEN_SENTENCES:
        words = [*item.document.tokens.slices(item.document.text)]
        words[2] = "z" * 300
        split = encoder.split(words)
        assert split.counts.max() <= rules.limit // 2
        windows = plan_windows(split.counts, item.document.tokens.sentences, rules.limit)
        kept = [row for w in windows for row in range(w.kept.token_start, w.kept.token_end)]
        assert kept == list(range(len(words)))
        frames = [encoder.frame(split, w.seen.token_start, w.seen.token_end) for w in windows]
        assert max(len(frame.input_ids) for frame in frames) <= 24


def test_a_sentencepiece_file_alone(encoder_copy: Callable[[str], Path]) -> None:
    """As DeBERTa v3 is published."""
    pytest.importorskip("sentencepiece")
    folder = encoder_copy("deberta-v3")
    expected = load_subword_rules(str(folder))
    (folder / "spm.model").write_bytes(sentencepiece_model())
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"vocab_type": "spm"}', encoding="utf-8")
    rules = load_subword_rules(str(folder))
    words = ["Kite", "networks", "(", "🧬", "hostile-ish"]
    assert subwords_of(rules.encoder(), words) == subwords_of(expected.encoder(), words)
    assert (rules.prefix, rules.suffix) == (expected.prefix, expected.suffix)


def subwords_of(encoder: SubwordTokenizer, words: list[str]) -> list[int]:
    return [int(number) for number in encoder.split(words).ids]


def sentencepiece_model() -> bytes:
    """The vocabulary of the DeBERTa of the tests, as the sentencepiece library saves it."""
    from sentencepiece import sentencepiece_model_pb2

    proto: Any = sentencepiece_model_pb2
    model = proto.ModelProto()
    kinds = {"[PAD]": 3, "[UNK]": 2, "[CLS]": 3, "[SEP]": 3, "[MASK]": 3}
    for text, score in unigrams(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")):
        entry = model.pieces.add()
        entry.piece, entry.score, entry.type = text, score, kinds.get(text, 1)
    model.trainer_spec.model_type, model.trainer_spec.unk_id = 1, 1
    model.trainer_spec.unk_piece = "[UNK]"
    data: bytes = model.SerializeToString()
    return data


def test_the_tiny_tokenizers_are_of_their_kinds() -> None:
    subwords, merges = byte_level_tokenizer(("[PAD]", "[UNK]"))
    assert merges and "Ġ" in subwords
    assert any(subword.startswith("▁") for subword, _ in unigrams(("[PAD]", "[UNK]")))
