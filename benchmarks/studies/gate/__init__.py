"""What the gate between challenger and champion can see, with how many queries."""
