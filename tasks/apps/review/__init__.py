"""A queue of titles that are worth reviewing, and the page to review them."""
