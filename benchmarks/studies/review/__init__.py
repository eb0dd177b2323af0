"""The review page of a queue at full size, in a browser: how soon it opens and answers a key."""
