"""The registered model as a reconciliation service, for spreadsheets such as OpenRefine."""
