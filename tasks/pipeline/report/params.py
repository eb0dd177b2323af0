"""Section `report` of `params.yaml`: how many rows its tables show."""

from __future__ import annotations

from typing import ClassVar

from tasks.io.section import Count, Section


class ReportParams(Section):
    """Section `report`."""

    NAME: ClassVar[str] = "report"
    confusions: Count
