"""The invented world of `report_world` for every test of the report."""

from report_world import change, empty, report_data

__all__ = ["change", "empty", "report_data"]
