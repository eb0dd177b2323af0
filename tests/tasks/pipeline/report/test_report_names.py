"""Names of systems, mixes and slices, and figures as text."""

from tasks.io.mixes import MIXES
from tasks.pipeline.report.names import mix_words, slice_name


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
