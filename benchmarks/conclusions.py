"""What follows from the figures of a section of `docs/RESULTS.md`: paragraphs that a person wrote.

They stand behind the section's introduction. Whoever measures again reads them again.
"""

from __future__ import annotations

CONCLUSIONS = {
    "attention": (
        "**Attention pays on SICK as in the paper, and hardly on MSRP.** On SICK it lifts the "
        "LSTM by 0.075 in r (the paper: 0.071) and the BLSTM by 0.099 (0.119), both well above 0; "
        "with it one direction is as good as two. On MSRP the BLSTM gains 0.025 in accuracy and "
        "the LSTM nothing that could be told from 0; none of the four is above counting shared "
        "words there, and the paper's four are all below the majority class. Reading 15 words is "
        "enough."
    ),
    "charagram": (
        "**CHARAGRAM leads on sentences at an equal tuning budget, as in the paper, and by "
        "more.** On the mean of the STS sets its bag of n-grams is 0.100 above the average of "
        "words (the paper: 0.027), 0.128 above the convolution, 0.290 above the LSTM over "
        "characters, and it is the only one clearly above counting shared words. Sentences have "
        "words that no link of the training has; the bag has n-grams for them. On SimLex it leads "
        "by far over the two other character networks, which after 120,000 examples know spelling "
        "and no meaning; it does not lead over the average of words (−0.038 [−0.084, 0.007]), for "
        "which the paper has no figure there. Figure 1: the bag learns from the first 10,000 "
        "examples on and has not levelled off after 120,000, where the convolution and the LSTM "
        "have not begun; the paper's train on some 38 million, so this says who learns faster, "
        "not who is better in the end. Table 5: more n-grams help; on words longer ones do as "
        "well; on sentences orders 2 to 4 are the highest at 50,000 each, as in the paper, within "
        "the intervals of 2 to 5."
    ),
    "frozen_space": (
        "**Compatibility costs nothing that could be shown, with the right loss.** Looked up "
        "among the embeddings that the earlier model stored, queries of a network trained into "
        "its space are as right as those of a freely trained one among its own: with `random` no "
        "test shows a difference, with `projection` Typos alone does (−0.005 [−0.009, −0.000]); "
        "each of the other three loses 0.015 to 0.025 on one test. What was stored gains from the "
        "newer model: 0.06 to 0.09 on Composition over the earlier one, −0.002 to −0.011 on "
        "Typos, which is all that the earlier one was augmented with. Without compatibility it is "
        "worth nothing (0.004 to 0.008). As in the paper both synthetic negatives are above von "
        "Mises-Fisher, here on Composition and hardly elsewhere, and neither is above the other "
        "throughout; random negatives are as good as they. Figure 2 holds for the losses alone: "
        "von Mises-Fisher is the fastest, the synthetic negatives come next, those that search "
        "the table are 2.6 to 4 times as slow as these. A whole update is the encoder's time, and "
        "differs by a quarter. One encoder: the bag of n-grams."
    ),
    "zoo": (
        "**Take `ngram_bag`, with any of the three losses.** On the sample it leads by 0.19 on "
        "Annotations and by 0.10 on Extra Words over the next encoder, and is the only network "
        "that the lexical systems are not ahead of on Annotations; it trains in 25 s and encodes "
        "78,000 titles/s on one thread, eleven times what the recurrent encoder does. Its price "
        "is 31 MB. Where a megabyte is too much, take `attentive` or `convolution` with the "
        "contrastive loss: 0.2 MB, as good on Typos, 0.2 lower on Annotations. `word_average` is "
        "four times as fast again and as good on held-out aliases, and lost on misspellings "
        "(0.49). For encoders that read characters in order the contrastive loss with hard mining "
        "is the surest; after 1,000 steps the margin loss with MAX negatives has left those with "
        "an LSTM at 0.04 to 0.10 on Annotations (the hybrid at 0.26), and in-batch negatives are "
        "behind it for most. A hybrid of convolution and recurrence is not above convolution "
        "alone. On ESCO (three encoders, 400 steps) the order is the same: 0.199 on Annotations "
        "and 0.683 on held-out aliases, TF-IDF 0.172 and 0.610, the average of words 0.186 and "
        "0.631; the bag has 34 million weights there, 137 MB, unless its n-grams are limited "
        "(`most`) or hashed. Equal steps favour what learns fast: longer training was not tried "
        "here."
    ),
}
"""Of each section that has one; in Markdown."""
