"""The report's invented world for the page of a decision."""

from report_world import report_data

__all__ = ["report_data"]
