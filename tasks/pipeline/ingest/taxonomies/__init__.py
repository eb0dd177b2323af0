"""Readers of taxonomies, one module a format, named as in `ingest.taxonomy.reader`."""
