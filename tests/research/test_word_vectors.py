"""Files of word vectors, and the encoder folders that are made of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from research.__main__ import app
from research.encoder_files import read_vectors, write_encoder
from sciextract.errors import FormatError, InputMissingError, OutputError
from sciextract_trainer.build import load_subword_rules
from sciextract_trainer.encoders.loading import load_encoder

GLOVE = "the 0.1 0.2\nkite -1 2e-1\n. . 0.5 0.5\nthe 9 9\n"
WORD2VEC = f"4 2\n{GLOVE}"


def file(folder: Path, text: str, name: str = "vectors.txt") -> Path:
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("text", [GLOVE, WORD2VEC, GLOVE.rstrip(), WORD2VEC.replace("\n", " \n")])
@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_the_usual_formats(text: str, name: str, tmp_path: Path) -> None:
    found = read_vectors(file(tmp_path, text, name), 100)
    assert found.words == ("the", "kite", ". .")
    np.testing.assert_allclose(found.vectors, [[0.1, 0.2], [-1, 0.2], [0.5, 0.5]])
    np.testing.assert_allclose(found.unknown, found.vectors.mean(axis=0))
    assert not found.cased


def test_as_many_words_as_wanted(tmp_path: Path) -> None:
    assert read_vectors(file(tmp_path, WORD2VEC), 2).words == ("the", "kite")


def test_the_files_own_unknown_word(tmp_path: Path) -> None:
    found = read_vectors(file(tmp_path, "The 1 1\n<unk> 3 4\n"), 10)
    assert found.words == ("The",) and found.cased
    assert found.unknown.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no word vectors"),
        ("\n", "numbers instead of"),
        ("kite\n", "numbers instead of"),
        ("kite 1 2\nmoss 1\n", r"vectors\.txt:2: 1 numbers instead of 2"),
        ("kite 1 2\nmoss 1 x\n", r"vectors\.txt:2: not a number"),
        ("kite 1 nan\n", r"vectors\.txt:1: a number is not finite"),
        ("3 2\nkite 1 2\n", "is cut: it announces 3 words and has 1"),
        ("3 2\n", "is cut: it announces 3 words and has 0"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=words):
        read_vectors(file(tmp_path, text), 10)


def test_binary_cut_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "vectors.bin").write_bytes(b"2 2\nkite \x00\x80\x9f\xff\xfe\n")
    with pytest.raises(FormatError, match="not text in UTF-8") as caught:
        read_vectors(tmp_path / "vectors.bin", 10)
    assert "binary" in caught.value.hint
    packed = file(tmp_path, GLOVE * 100, "vectors.gz")
    packed.write_bytes(packed.read_bytes()[:30])
    with pytest.raises(FormatError, match="cannot be unpacked"):
        read_vectors(packed, 10)
    with pytest.raises(InputMissingError, match="no file at"):
        read_vectors(tmp_path / "nowhere.txt", 10)


def test_a_folder_gives_the_vectors_back(tmp_path: Path) -> None:
    found = read_vectors(file(tmp_path, GLOVE), 10)
    write_encoder(found, tmp_path / "encoder", lstm_layers=0, lstm_size=5)
    encoder, rules = (
        load_encoder(str(tmp_path / "encoder")),
        load_subword_rules(str(tmp_path / "encoder")),
    )
    ids = torch.from_numpy(rules.encoder().split(["Kite", "zeppelin", "the"]).ids)[None]
    states = encoder(input_ids=ids, attention_mask=torch.ones_like(ids))[0][0]
    expected = np.stack([found.vectors[1], found.unknown, found.vectors[0]])
    np.testing.assert_allclose(states.detach(), expected)
    with pytest.raises(OutputError, match="is there already"):
        write_encoder(found, tmp_path / "encoder", lstm_layers=0, lstm_size=5)


def test_a_cased_file_is_looked_up_as_it_is(tmp_path: Path) -> None:
    found = read_vectors(file(tmp_path, "Kite 1 2\nmoss 3 4\n"), 10)
    write_encoder(found, tmp_path / "encoder", lstm_layers=0, lstm_size=5)
    rules = load_subword_rules(str(tmp_path / "encoder"))
    assert rules.encoder().split(["Kite", "kite", "moss"]).ids.tolist() == [2, 1, 3]


def test_the_lstm_begins_anew_with_each_seed(tmp_path: Path) -> None:
    command = [
        "vectors",
        str(file(tmp_path, GLOVE)),
        str(tmp_path / "encoder"),
        "--lstm-layers",
        "2",
    ]
    result = CliRunner().invoke(app, [*command, "--lstm-size", "3"])
    assert result.exit_code == 0 and "3 words of 2 numbers" in result.stderr
    weights = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        encoder = load_encoder(str(tmp_path / "encoder"))
        weights.append(encoder.state_dict()["lstm.1.backwards.weight_ih_l0"])
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_the_lstm_reads_from_both_ends(tmp_path: Path) -> None:
    found = read_vectors(file(tmp_path, GLOVE), 10)
    write_encoder(found, tmp_path / "encoder", lstm_layers=1, lstm_size=3)
    encoder = load_encoder(str(tmp_path / "encoder")).eval()
    ids = torch.tensor([[2, 3, 4], [3, 3, 4], [2, 3, 3]])
    with torch.no_grad():
        [one, other_start, other_end] = encoder(input_ids=ids)[0]
    assert torch.equal(one[:1, :3], other_end[:1, :3]) and torch.equal(
        one[2:, 3:], other_start[2:, 3:]
    )
    assert not torch.equal(one[2, :3], other_start[2, :3])
    assert not torch.equal(one[0, 3:], other_end[0, 3:])
