"""Words of titles, counted by hand, and those of many titles beside a loop."""

from itertools import chain, pairwise

from hypothesis import given
from hypothesis import strategies as st

from models.text.words import WORDS, TitleWords, Words, forms_of


def test_counts_by_hand() -> None:
    """Of each title the first part's ends count; a lone word begins nothing."""
    words = TitleWords.of(["head nurse (ward)", "nurse", "nurse", "nurse nurse", "!?"])
    assert words.counts == {"head": 1, "nurse": 3, "ward": 1}
    assert words.endings == {"nurse": 3}
    assert words.beginnings == {"head": 1, "nurse": 1}


def test_forms_of_a_label() -> None:
    assert forms_of("Koch/Köchin") == ["koch", "köchin"]
    assert forms_of("commis / commise") == ["commis", "commise"]
    assert (forms_of("baker"), forms_of("/")) == (["baker"], [])


@given(st.lists(st.text("ab+#'& -,\n/é_", max_size=9), max_size=6))
def test_words_of_many_texts_equal_the_loop(texts: list[str]) -> None:
    words, gaps = Words.of(texts)
    spans = zip(words.starts[:-1], words.starts[1:], strict=True)
    own = [[words.names[code] for code in words.codes[start:stop]] for start, stop in spans]
    assert own == [WORDS.findall(text) for text in texts]
    between = [gaps.names[code] for code in gaps.codes]
    whole = "".join(chain(*zip(between, [*chain(*own), ""], strict=True)))
    assert whole == "".join(text.replace("\n", " ") + "\n" for text in texts or [""])
    twice = words.followed_by(own)
    again, _ = Words.of([*texts, *texts])
    assert twice.names == again.names
    assert twice.codes.tolist() == again.codes.tolist()
    assert twice.starts.tolist() == again.starts.tolist()
    has_a = ["a" in name for name in words.names]
    assert words.count(has_a).tolist() == [sum("a" in w for w in text) for text in own]
    letters, begins = words.letters
    assert [
        "".join(map(chr, letters[begin:stop])) for begin, stop in pairwise(begins)
    ] == words.names
