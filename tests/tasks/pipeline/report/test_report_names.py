"""Names of systems, mixes and slices, and figures as text."""

from __future__ import annotations

from tasks.io.mixes import MIXES
from tasks.pipeline.report.names import in_order, listed, mix_words, share, signed, slice_name


def test_every_mix_has_its_words():
    four = "the base taxonomy, typos, synonyms, extra words"
    assert [mix_words(mix) for mix in MIXES] == [
        "the base taxonomy",
        "the base taxonomy and typos",
        "the base taxonomy, typos and synonyms",
        "the base taxonomy, typos, synonyms and extra words",
        f"{four} and verdicts",
        f"{four}, verdicts and corrections",
    ]
    assert slice_name("source:pair_unseen") == "synonym never seen"
    assert slice_name("source:unheard") == "unheard"


def test_numbers_and_lists_as_they_are_read():
    assert (signed(0.0171), signed(-0.25), signed(-0.0001)) == ("+0.017", "−0.250", "0.000")
    assert share(0.9335) == "0.933"  # 0.9335 is 0.93349999… in binary
    assert (listed([]), listed(["a"]), listed(["a", "b", "c"])) == ("", "a", "a, b and c")
    assert in_order(["z", "ngram", "0", "z"], ("tfidf", "ngram")) == ["ngram", "0", "z"]
