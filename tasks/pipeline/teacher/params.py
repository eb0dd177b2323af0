"""Section `teacher` of `params.yaml`, which the stage of that name and training both read."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tasks.io.section import Count, Number, Params, Section

Above0 = Annotated[float, Field(gt=0)]
AtLeast0 = Annotated[float, Field(ge=0)]


class TuningParams(Params):
    """How a teacher is tuned on the training pairs (`tasks/pipeline/teacher/tuning.py`)."""

    steps: Number
    pairs: Annotated[int, Field(ge=2)]
    learning_rate: Above0


class TeacherParams(Section):
    """Who teaches, and how: all but the first three is `TeacherSettings`.

    `models/training/teacher.py` says what these do.
    """

    NAME: ClassVar[str] = "teacher"
    kind: Literal["none", "sentence_encoder"]
    tuning: TuningParams
    nearest: Count  # aliases nearest to a title that are looked for
    scale: AtLeast0
    spread: Above0
    weight: AtLeast0
    strings: Count
    teacher_temperature: Above0
    temperature: Above0

    @property
    def teaches(self) -> bool:
        """Whether there is a teacher."""
        return self.kind != "none"
