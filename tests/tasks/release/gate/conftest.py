"""The report's invented world for the page of a decision."""

from __future__ import annotations

from report_world import report_data

__all__ = ["report_data"]
