"""`POST /normalize`: titles in JSON, their answers out; a service of its own for programs.

Its schema is that of `Answer`, whose columns carry their meanings (`models/serving/answer.py`).
"""

from __future__ import annotations

from threading import Lock
from types import GenericAlias
from typing import Annotated, Any, Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from models.serving.answer import MOST, columns
from models.serving.model import Normalizer
from tasks.apps.ask import described
from tasks.apps.web.responses import BadRequest, as_json

TITLES = 1000  # of a request
CANDIDATES = 10_000  # of a request: titles times `top_k`
EXPLAINED = 20  # titles of a request with explanations


class Titles(BaseModel):
    """Titles to be answered."""

    model_config = ConfigDict(strict=True, extra="forbid")

    titles: Annotated[
        list[str | None],
        Field(max_length=TITLES, description="As people wrote them; null is a missing one."),
    ]
    top_k: Annotated[
        int | None,
        Field(ge=1, le=MOST, description="Occupations of an answer; null: the model's own number."),
    ] = None
    min_confidence: Annotated[
        float | None, Field(ge=0, le=1, description="The model abstains below this confidence.")
    ] = None
    code_depth: Annotated[
        int | None, Field(ge=0, description="Code levels to answer with; 0 or null: all.")
    ] = None
    language: Annotated[
        str | None,
        Field(description="Of labels and titles in the answer; null: the closest alias's own."),
    ] = None
    explain: Annotated[
        bool, Field(description=f"Say which words drew the titles; {EXPLAINED} titles at most.")
    ] = False

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if len(self.titles) * (self.top_k or 1) > CANDIDATES:
            fault = f"{len(self.titles)} titles with top_k = {self.top_k}"
            raise ValueError(f"{fault}; titles times top_k may be {CANDIDATES:,}")
        if self.explain and len(self.titles) > EXPLAINED:
            raise ValueError(f"{len(self.titles)} titles with explain; {EXPLAINED} at most")
        return self

    @property
    def params(self) -> dict[str, Any]:
        """Those of `Normalizer.predict` that are given."""
        return self.model_dump(exclude={"titles", "explain"}, exclude_none=True)


class Alternative(BaseModel):
    """An occupation behind the first one."""

    occupation_id: str
    occupation_label: str
    codes: list[str]
    matched_title: Annotated[str, Field(description="Its closest alias.")]
    score: float


class Word(BaseModel):
    """A word of the title, and what the scores lose without it."""

    word: str
    pull: Annotated[float, Field(description="Towards the answer.")]
    runner_up_pull: Annotated[float, Field(description="Towards the second occupation.")]


class Explanation(BaseModel):
    """Why the answer is this one; for an abstention, why there is none."""

    why: str
    words: list[Word]


FIELDS: dict[str, Any] = {
    name: (
        GenericAlias(list, column.type) if column.is_list else column.type | None,
        Field(description=column.meaning),
    )
    for name, column in columns().items()
}
FIELDS |= {
    "raw_title": (str | None, Field(description="The title as it was sent.")),
    "meaning": (str | None, Field(description="`reason` in a sentence.")),
    "code_labels": (list[str], Field(description="Names of `codes`; empty if unknown.")),
    "alternatives": list[Alternative],
    "explanation": (Explanation | None, Field(None, description="With `explain` only.")),
}
Described = create_model("Answer", __doc__="The answer to a title.", **FIELDS)


class Answered(BaseModel):
    """An answer for each title, in their order."""

    model: Annotated[str, Field(description="Address in the registry.")]
    answers: list[Described]  # type: ignore[valid-type]


class Refusal(BaseModel):
    """The fault of a request."""

    status: str
    message: str


def routes(normalizer: Normalizer, model: str, one_at_a_time: Lock) -> APIRouter:
    """Return the path; `model` is the address, the lock is held while the model answers."""
    router = APIRouter()

    @router.post(
        "/normalize",
        response_model=Answered,
        responses={status: {"model": Refusal} for status in (400, 413, 415)},
    )
    def normalize(request: Titles) -> Response:
        """Answer titles."""
        with one_at_a_time:
            try:
                normalizer.predict([], **request.params)
            except ValueError as error:
                raise BadRequest(str(error)) from None
            titles, params = request.titles, request.params
            answers = described(normalizer, titles, params, explained=request.explain)
            return as_json({"model": model, "answers": [*answers]})

    return router
