from __future__ import annotations

from time import process_time

import pytest

from sciextract.graph.extraction import extract
from sciextract.graph.values import Value
from tests.graph_samples import abstract

METRICS = (
    "top-1 accuracy", "accuracy", "F1^b", "F1", "GLEAM benchmark", "GLEAM-Bench", "recovery error", "relative risk", "test loss",
    "correlation", "relative yield", "95% CI", "confidence interval (CI)", "mean (SD)", "P-value", "kPa", "TOR", "recovery",
    "masking ratio",
)  # fmt: skip
MATERIALS = (
    "PondBank and MossNet-2 data", "PondBank", "MossNet-2", "the dataset", "FernCorp", "3D", "ResNet-7",
)  # fmt: skip
METHODS = ("HeronNet", "OtterNet", "Our method", "tree ensembles")


def values(text: str, **options: object) -> list[Value]:
    """What an abstract of this text reports, with the words above marked at their first place."""
    mentions: dict[str, str] = {}
    for label, words in (("Metric", METRICS), ("Material", MATERIALS), ("Method", METHODS)):
        for word in words:
            held = any(word in longer for longer in mentions)
            if word in text and not held:
                mentions[word] = label
    return list(extract(abstract("a", text, mentions, **options)).values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A data set that no model marked, one marked as a metric, and the only one of the abstract.
        ("We reach an accuracy of 81.5% on BrookQA.", ("accuracy", "brookqa", 81.5, False)),
        ("It has 70.1 F1 on the GLEAM benchmark.", ("f1", "gleambenchmark", 70.1, False)),
        ("We study the FernCorp corpus. On the dataset, accuracy is 61.2%.", ("accuracy", "", 61.2, False)),
        ("We test on PondBank. The final accuracy is 61.2%.", ("accuracy", "pondbank", 61.2, False)),
        ("We test on PondBank and MossNet-2. The accuracy is 61.2%.", ("accuracy", "", 61.2, False)),
        ("HeronNet reaches 61.2% accuracy in 3D.", ("accuracy", "", 61.2, False)),
        ("A tool with a MossNet-2 backbone has 61.2% accuracy.", ("accuracy", "", 61.2, False)),
        # A value, though words of change are near; and the other way round.
        ("Accuracy rises from 40.1% to 52.3% on PondBank.", ("accuracy", "pondbank", 52.3, False)),
        ("HeronNet outperforms OtterNet, with an accuracy of 52.3%.", ("accuracy", "", 52.3, False)),
        ("HeronNet achieves up to 52.3% accuracy on PondBank.", ("accuracy", "pondbank", 52.3, False)),
        ("We get 83.1 (+3.5) F1 on PondBank.", ("f1", "pondbank", 83.1, False)),
        ("HeronNet outperforms OtterNet by 2.3% accuracy on PondBank.", ("accuracy", "pondbank", 2.3, True)),
        ("We report a 12.5% reduction in recovery error on PondBank.", ("recoveryerror", "pondbank", 12.5, True)),
        ("It has an improvement in accuracy of 2.3% on PondBank.", ("accuracy", "pondbank", 2.3, True)),
        ("HeronNet achieves up to 2.3% accuracy improvement on PondBank.", ("accuracy", "pondbank", 2.3, True)),
        ("The gap between train and test accuracy is 2.3%.", ("accuracy", "", 2.3, True)),
        ("HeronNet is better than all others that anybody tried on PondBank (up to 2.3% accuracy).", ("accuracy", "pondbank", 2.3, True)),
        ("HeronNet has an F1 of 61.2% for the recovery error.", ("f1", "", 61.2, False)),
        ("HeronNet reaches a balanced accuracy of 61.2% on PondBank.", ("balancedaccuracy", "pondbank", 61.2, False)),
        ("HeronNet reaches a top-5 accuracy of 61.2% on PondBank.", ("top5accuracy", "pondbank", 61.2, False)),
        ("Tests on PondBank and MossNet-2 data show 61.2% accuracy.", ("accuracy", "", 61.2, False)),
        ("HeronNet has 0.1% accuracy less than OtterNet.", ("accuracy", "", 0.1, True)),
        ("HeronNet has a relative recovery error, 61.2% accuracy, and less noise.", ("accuracy", "", 61.2, False)),
        ("The better of these has an accuracy of 61.2%.", ("accuracy", "", 61.2, False)),
        ("Beside improved tests, HeronNet averages 61.2% accuracy on PondBank.", ("accuracy", "pondbank", 61.2, False)),
        ("It improves the accuracy (up to 12.5% absolute).", ("accuracy", "", 12.5, True)),
        ("It has an additional recovery error of 12.5%.", ("recoveryerror", "", 12.5, True)),
        ("HeronNet outperforms models of one speaker (61.2% accuracy).", ("accuracy", "", 61.2, False)),
        ("HeronNet improves upon a baseline of one speaker (accuracy 61.2%).", ("accuracy", "", 61.2, False)),
        ("HeronNet reaches 61.2% accuracy with OtterNet on PondBank.", ("accuracy", "pondbank", 61.2, False)),
        ("HeronNet has an accuracy of 0.83 (F1 unknown).", ("accuracy", "", 0.83, False)),
        ("HeronNet has less noise, and a 61.2% accuracy.", ("accuracy", "", 61.2, False)),
        ("We trained a new model on PondBank and saw 61.2% accuracy.", ("accuracy", "", 61.2, False)),
        ("HeronNet has 61.2% accuracy on ResNet-7.", ("accuracy", "", 61.2, False)),
        ("It reaches 61.2 on GLEAM-Bench with 52.1% accuracy.", ("accuracy", "gleambench", 52.1, False)),
        # A risk does not rise, a loss may be measured, and ratios are relative to something.
        ("Tests went well (relative risk, 0.85; P<0.001).", ("relativerisk", "", 0.85, False)),
        ("There was a reduction in falls with herons (relative risk 0.85).", ("relativerisk", "", 0.85, False)),
        ("HeronNet ends with a test loss of 0.85.", ("testloss", "", 0.85, False)),
        ("HeronNet has a relative yield of 0.85.", ("relativeyield", "", 0.85, False)),
        ("All our models exceed 91.2% accuracy.", ("accuracy", "", 91.2, False)),
        ("The best results reached by our tool were accuracy 0.68.", ("accuracy", "", 0.68, False)),
        ("HeronNet gets a 0.07 (+17.2%) gain in accuracy.", ("accuracy", "", 0.07, True)),
        ("It attacks with a degradation to accuracy (0.3% on average).", ("accuracy", "", 0.3, True)),
        ("Herons significantly reduced the recovery (75%).", ("recovery", "", 75.0, True)),
        ("It runs fast while sacrificing 0.4% accuracy.", ("accuracy", "", 0.4, True)),
        # Negative values, deviations, and the intervals behind a value.
        ("We see a correlation of -0.24 on PondBank.", ("correlation", "pondbank", -0.24, False)),
        ("They were related (correlation = -0.65, P = .08).", ("correlation", "", -0.65, False)),
        ("HeronNet shows an accuracy of 76.7 +/- 0.5 on PondBank.", ("accuracy", "pondbank", 76.7, False)),
        ("HeronNet has an accuracy of 0.83, 95% confidence interval 0.80-0.86.", ("accuracy", "", 0.83, False)),
    ],
)  # fmt: skip
def test_a_value_with_its_metric_and_data_set(
    text: str, expected: tuple[str, str, float, bool]
) -> None:
    (found,) = values(text)
    assert (found.metric.casefold(), found.material, found.value, found.is_difference) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HeronNet has a recovery error of 0.05 m on PondBank.", ("recoveryerror", 0.05, "m")),
        ("HeronNet reaches a recovery error of 2.70 degrees.", ("recoveryerror", 2.7, "°")),
        ("It has a 17.4mm recovery error.", ("recoveryerror", 17.4, "mm")),
        ("It has 0.9 ms recovery with few errors.", ("recovery", 0.9, "ms")),
        ("HeronNet has an accuracy of 61.2 percent.", ("accuracy", 61.2, "%")),
    ],
)
def test_units_are_read_and_are_no_metrics(text: str, expected: tuple[str, float, str]) -> None:
    (found,) = values(text)
    assert (found.metric.casefold(), found.value, found.unit) == expected


def test_ends_of_ranges_and_speeds_are_no_values() -> None:
    for text in (
        "The recovery error ranges from 2.6mm to 3.7mm RMS.",
        "Accuracy at 1.5 m/s.",
        "For angles near 3° the recovery is 18 W.",
    ):
        assert values(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "We gain (2) accuracy on PondBank.",  # a list's number
        "It takes 61.2% of the recovery error.",
        "It reaches 61.2% of the accuracy that OtterNet has.",
        "Such tests require 61.2% accuracy.",
        "It beats OtterNet, whose accuracy was high, surpassing its accuracy of 63.2%.",
        "We see 61.2% accuracy on PondBank and MossNet-2.",
        "It improves the accuracy by 2 to 5 points, for players from group 2 (accuracy known, n = 34).",
        "In F1(26) = 2.35 the results vary (I(2)=68% for accuracy).",
        "The pressure (PC = 18.0 kPa) and 6.7 kPa are tolerated, with a masking ratio of 75%.",
        "The 95% confidence interval (CI) and a mean (SD) of 9.4 were known, P-value = 0.006.",
        "Of the birds, 30 TOR outliers and (31 with food) were seen, recovery (31 with food).",
        "Using a 10% increase in accuracy, most are found; success was defined as an accuracy of 60%.",
        "Patients with an accuracy of 35% or lower were left out.",
        "It gets 75.1%|82.0%|84.2% accuracy for A|B|C.",
    ],
)
def test_no_value_where_another_thing_is_counted_or_meant(text: str) -> None:
    assert values(text) == []


def test_several_metrics_share_one_data_set() -> None:
    found = values("We report accuracy and F1 on PondBank (91.2%, 88.4%).")
    told = [(value.metric.casefold(), value.material, value.value) for value in found]
    assert told == [("accuracy", "pondbank", 91.2), ("f1", "pondbank", 88.4)]
    found = values("HeronNet has 61.2% accuracy on PondBank, 52.1% on FernCorp.")
    assert [(value.material, value.value) for value in found] == [("pondbank", 61.2), ("ferncorp", 52.1)]  # fmt: skip
    found = values("HeronNet achieves 2.3% accuracy and 1.2% F1^b improvements.")
    assert [(value.value, value.is_difference) for value in found] == [(2.3, True), (1.2, True)]


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("HeronNet achieves 61.2% accuracy, outperforming OtterNet.", "heronnet"),
        ("Compared with OtterNet, HeronNet reaches 61.2% accuracy.", "heronnet"),
        ("We present HeronNet. We reach 61.2% accuracy.", "heronnet"),
        ("We present HeronNet. OtterNet has 61.2% accuracy.", "otternet"),
        ("We present HeronNet. Experts get it right, humans with 61.2% accuracy.", ""),
        ("HeronNet is new. It is compared to an OtterNet with 61.2% accuracy.", ""),
        ("HeronNet is good compared with others (at best 61.2% accuracy).", ""),
        ("Before HeronNet the labels have 61.2% accuracy.", ""),
    ],
)
def test_the_method_is_never_the_outperformed_one(text: str, method: str) -> None:
    (found,) = values(text)
    assert found.method == method


def test_a_relation_tells_the_method_unless_it_is_outperformed() -> None:
    text = "With tree ensembles we see 61.2% accuracy."
    related = [("accuracy", "EVALUATE-FOR", "tree ensembles")]
    assert values(text, links=related)[0].method == "treeensemble"
    text = "We see 61.2% accuracy, better than tree ensembles."
    assert values(text, links=related)[0].method == ""
    text = "In comparison to an accuracy of 61.2%, tree ensembles are good."
    assert values(text, links=related)[0].method == ""


@pytest.mark.parametrize("repeated", ["accuracy of 5.1% ", "gains by 3.5% in accuracy, "])
def test_an_endless_sentence_takes_no_time(repeated: str) -> None:
    started = process_time()
    assert values(f"HeronNet {repeated * 20_000}") == []
    assert process_time() - started < 30


def test_the_split_is_kept() -> None:
    found = values(
        "We reach 61.2% accuracy on PondBank validation set and 60.1% accuracy on MossNet-2 test-dev."
    )
    assert [value.split for value in found] == ["val", "test-dev"]
    (alone,) = values("On the held-out testing set, accuracy is 61.2%.")
    assert alone.split == "test"
