"""The served model without its network: abstention, answers, explanations."""
