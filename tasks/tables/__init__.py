"""Tables from outside: delimiters, encodings, records, rejected rows."""
