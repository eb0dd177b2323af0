"""The registered model as a reconciliation service, for OpenRefine."""
