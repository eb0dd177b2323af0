"""Words of titles that say seniority, contract and place: which are found, and which are right."""
