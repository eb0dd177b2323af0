"""The sections of the report, one idea a module; `tasks.report` puts them together."""
