"""Publishers' files to occupations, aliases, raw inputs and rejected rows."""
