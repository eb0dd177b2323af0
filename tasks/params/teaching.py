"""Section `teacher` of `params.yaml`, which the stage of that name and training both read."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tasks.params.section import Count, Section

Above0 = Annotated[float, Field(gt=0)]
AtLeast0 = Annotated[float, Field(ge=0)]


class TeacherParams(Section):
    """Who teaches, and how: all but `kind` is `TeacherSettings` (`models/training/teacher.py`)."""

    NAME: ClassVar[str] = "teacher"
    kind: Literal["none", "sentence_encoder"]
    scale: AtLeast0
    spread: Above0
    weight: AtLeast0
    strings: Count
    nearest: Count
    teacher_temperature: Above0
    temperature: Above0

    @property
    def teaches(self) -> bool:
        """Whether there is a teacher."""
        return self.kind != "none"
