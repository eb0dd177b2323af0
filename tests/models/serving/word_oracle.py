"""Words compared letter by letter, as kernels compare many."""


def common(one: str, other: str) -> int:
    """Return how many letters two words have in common from their beginning."""
    for index, (letter, opposite) in enumerate(zip(one, other, strict=False)):
        if letter != opposite:
            return index
    return min(len(one), len(other))


def is_an_edit(one: str, other: str) -> bool:
    """Say whether one letter more, or another, or two swapped make a word of the other."""
    shorter, longer = sorted((one, other), key=len)
    same = common(shorter, longer)
    edited = len(longer) - same - common(shorter[same:][::-1], longer[same:][::-1])
    return edited <= 1 or (edited == 2 and sorted(shorter) == sorted(longer))


def same_word(one: str, other: str) -> bool:
    """Say whether two words are forms or spellings of one."""
    if one == other:
        return True
    if one[0] != other[0] and one[-1] != other[-1]:
        return False
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < 4 or len(longer) - len(shorter) > 4:
        return False
    return common(shorter, longer) >= max(4, len(longer) - 2) or is_an_edit(one, other)
