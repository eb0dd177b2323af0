"""What the loop of bulk run, queue, corrections and retraining brings, week after week."""
