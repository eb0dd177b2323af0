"""People's feedback: read, resolved, and held out for the gate."""
