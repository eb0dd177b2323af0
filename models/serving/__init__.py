"""The served model: raw titles in, occupations out. Consumers load it with `models/text`."""
