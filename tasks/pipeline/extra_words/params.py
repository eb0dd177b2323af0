"""Section `extra_words` of `params.yaml`: superfluous phrases, and shares of the mined inputs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, model_validator

from models.text.titles import clean_title
from tasks.io.section import Number, Params, Section, Share, require_sum_of_one


def checked_phrase(text: str) -> str:
    """Refuse a phrase in which nothing is left after cleaning."""
    if not clean_title(text):
        raise ValueError(f"{text!r} has no character to put beside a title; leave it out")
    return text


Phrase = Annotated[str, AfterValidator(checked_phrase)]


class Phrases(Params):
    """Superfluous words that are known beforehand."""

    before: list[Phrase]
    after: list[Phrase]


class ExtraWordsParams(Section):
    """Section `extra_words`: shares of the labelled mined inputs, and titles that we pad."""

    NAME: ClassVar[str] = "extra_words"
    test_share: Share
    valid_share: Share
    gate_share: Share
    padded: Number
    labelled: Number
    """Titles that a labelled training input is a variant of."""
    phrases: Phrases
    phrases_by_language: bool

    @model_validator(mode="after")
    def _something_is_left(self) -> Self:
        require_sum_of_one(
            test_share=self.test_share, valid_share=self.valid_share, gate_share=self.gate_share
        )
        return self
