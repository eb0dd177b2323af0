"""Which of two models is better: the gate, its figures, and what a decision changes for whom."""
