"""A few titles answered at once, for people: in the terminal, as JSON, for the page of `serve`."""
