"""The registered model behind a web port: a page, titles as JSON, and OpenRefine's service."""
