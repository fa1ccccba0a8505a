"""ROUGE exactly as the package rouge 1.0.1 counts it, for HREF's published numbers.

It divides at full stops and spaces, keeps case and other punctuation, counts each n-gram once, and adds 1e-8 to the
denominator of F. Its ROUGE-L joins the words of one longest common subsequence per pair of sentences, so the way in
which one is picked among equals matters: ties go to the earlier part of the response.
"""

from __future__ import annotations

__all__ = ["href_rouge"]

_SLACK = 1e-8


def href_rouge(candidate: str, reference: str, measure: str) -> tuple[float, float, float]:
    """Return precision, recall and F; zeros for a text without words.

    Examples
    --------
    >>> round(href_rouge("the the the the", "the cat", "rouge1")[2], 4)
    0.6667
    """
    ours, theirs = _sentences(candidate), _sentences(reference)
    if not any(ours) or not any(theirs):
        return 0.0, 0.0, 0.0
    if measure == "rougeL":
        shared, many, wanted = _union(ours, theirs), len(_words(ours)), len(_words(theirs))
    else:
        size = 2 if measure == "rouge2" else 1
        a, b = _grams(ours, size), _grams(theirs, size)
        shared, many, wanted = len(a & b), len(a), len(b)
    precision, recall = shared / many if many else 0.0, shared / wanted if wanted else 0.0
    return precision, recall, 2.0 * (precision * recall / (precision + recall + _SLACK))


def _sentences(text: str) -> list[list[str]]:
    return [part.split() for part in text.split(".") if part]


def _words(sentences: list[list[str]]) -> set[str]:
    # An empty sentence counts as one empty word in that package, because "".split(" ") is [""].
    return {word for sentence in sentences for word in sentence or [""]}


def _grams(sentences: list[list[str]], size: int) -> set[tuple[str, ...]]:
    words = [word for sentence in sentences for word in sentence or [""]]
    return {tuple(words[start : start + size]) for start in range(len(words) - size + 1)}


def _union(candidate: list[list[str]], reference: list[list[str]]) -> int:
    found: set[str] = set()
    for wanted in reference:
        for given in candidate:
            found |= _one_common(wanted or [""], given or [""])
    return len(found)


def _one_common(x: list[str], y: list[str]) -> set[str]:
    """Return the words of one longest common subsequence."""
    rows = [[0] * (len(y) + 1)]
    for word in x:
        above, row = rows[-1], [0]
        for place, other in enumerate(y):
            row.append(above[place] + 1 if word == other else max(above[place + 1], row[place]))
        rows.append(row)
    i, j, words = len(x), len(y), set()
    while i and j:
        if x[i - 1] == y[j - 1]:
            words.add(x[i - 1])
            i, j = i - 1, j - 1
        elif rows[i - 1][j] > rows[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words
