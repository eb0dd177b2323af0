"""What follows from the figures of a section of `docs/RESULTS.md`: paragraphs that a person wrote.

They stand behind the section's introduction. Whoever measures again reads them again.
"""

from __future__ import annotations

CONCLUSIONS = {
    "attention": (
        "**Attention pays on SICK as in the paper, and hardly on MSRP.** On SICK it lifts the LSTM "
        "by 0.075 in r (the paper: 0.071) and the BLSTM by 0.099 (0.119), both well above 0; with "
        "it one direction is as good as two. On MSRP the BLSTM gains 0.025 in accuracy and the "
        "LSTM nothing that could be told from 0; none of the four is above counting shared words "
        "there, and the paper's four are all below the majority class. Reading 15 words is enough."
    ),
    "charagram": (
        "**CHARAGRAM leads on sentences at an equal tuning budget, as in the paper, and by more.** "
        "On the mean of the STS sets its bag of n-grams is 0.100 above the average of words (the "
        "paper: 0.027), 0.128 above the convolution, 0.290 above the LSTM over characters, and it "
        "is the only one clearly above counting shared words. Sentences have words that no link of "
        "the training has; the bag has n-grams for them. On SimLex it leads by far over the two "
        "other character networks, which after 120,000 examples know spelling and no meaning; it "
        "does not lead over the average of words (−0.038 [−0.084, 0.007]), for which the paper has "
        "no figure there. Figure 1: the bag learns from the first 10,000 examples on and has not "
        "levelled off after 120,000, where the convolution and the LSTM have not begun; the "
        "paper's train on some 38 million, so this says who learns faster, not who is better in "
        "the end. Table 5: more n-grams help; on words longer ones do as well; on sentences orders "
        "2 to 4 are the highest at 50,000 each, as in the paper, within the intervals of 2 to 5."
    ),
}
"""Of each section that has one; in Markdown."""
