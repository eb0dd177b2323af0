"""The loop of bulk run, queue, reviews and retraining, week after week."""
