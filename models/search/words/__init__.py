"""Words of titles: counted, compared, and corrected."""
