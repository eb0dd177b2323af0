"""Power of the gate between challenger and champion, by the number of queries."""
