"""What pages of results are made of: rows chosen and pivoted, tables, drawings."""
