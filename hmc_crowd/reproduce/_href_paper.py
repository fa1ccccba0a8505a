"""What the HREF paper prints: facts to recompute from, never to be adjusted.

Source: Lyu, Wang, Hajishirzi, Dasigi (2024), "HREF": table 2, sections 2 to 4, appendices.
"""

from __future__ import annotations

__all__: list[str] = []

CATEGORIES = {
    "Brn": "Brainstorming",
    "OQA": "Open QA",
    "CQA": "Closed QA",
    "Ext": "Extraction",
    "Gen": "Generation",
    "Rew": "Rewriting",
    "Sum": "Summarisation",
    "Cls": "Classification",
    "FC": "Fact checking",
    "MDS": "Multi-document synthesis",
    "RND": "Reasoning over numerical data",
}
JUDGE, WITH_REFERENCE, EMBEDDING = "Judge 70B", "Judge 70B + reference", "RoBERTa-large"
COMPOSITE, PEOPLE = "Composite 70B", "Human, inner"
# Of the composite of section 2.2; equal ones go to the earlier.
CANDIDATES = (JUDGE, WITH_REFERENCE, EMBEDDING)

# Leave-one-out agreement in percent: the eleven categories in their order, then "All".
TABLE_2: dict[str, tuple[float, ...]] = {
    "Random": (46.3, 49.5, 41.1, 47.7, 54.9, 47.3, 50.1, 50.0, 45.3, 44.8, 50.0, 48.2),
    "Shorter": (43.8, 61.6, 65.6, 57.6, 49.0, 45.5, 56.6, 52.9, 57.8, 42.8, 53.5, 53.2),
    "Longer": (50.1, 33.3, 28.3, 38.1, 49.1, 52.6, 40.5, 43.3, 39.0, 54.8, 45.8, 43.1),
    "ROUGE": (52.4, 57.3, 70.3, 65.0, 58.0, 70.4, 55.0, 50.0, 70.3, 61.5, 61.0, 60.3),
    JUDGE: (65.3, 58.5, 64.8, 69.7, 64.1, 73.4, 68.0, 66.0, 69.0, 63.5, 66.8, 66.2),
    WITH_REFERENCE: (62.5, 55.3, 73.0, 75.6, 70.3, 75.4, 66.9, 68.1, 64.0, 66.0, 73.8, 67.9),
    EMBEDDING: (48.4, 60.5, 68.8, 69.9, 64.1, 64.8, 61.0, 61.9, 71.5, 55.5, 70.0, 62.5),
    "Perplexity": (47.9, 51.5, 57.1, 51.8, 48.8, 42.8, 52.9, 42.1, 54.9, 52.8, 59.7, 50.3),
    COMPOSITE: (65.3, 60.5, 73.0, 75.6, 70.3, 75.4, 68.0, 68.1, 71.5, 66.0, 73.8, 69.4),
    PEOPLE: (62.6, 59.5, 71.9, 73.8, 66.3, 69.9, 63.4, 69.8, 71.0, 62.8, 74.3, 67.0),
}
# "All" of each judge model: by itself, with a person's reference, and in a composite.
ALL: dict[str, tuple[float, float, float]] = {
    "GPT-4": (59.4, 62.6, 65.6),
    "GPT-4-Turbo": (64.8, 66.4, 67.4),
    "7B": (58.7, 56.8, 65.0),
    "70B": (66.2, 67.9, 69.4),
}
# What the prose says of differences in the table: (what, judge, against, kind of judging, points).
PROSE: tuple[tuple[str, str, str, int, float], ...] = (
    ("70B over GPT-4, alone", "70B", "GPT-4", 0, 6.0),
    ("70B over GPT-4, with reference", "70B", "GPT-4", 1, 4.2),
)
LARGEST_GAIN = 3.2

# Section 4.3: agreement in percent, and correlation of the models' scores with those of A.
PROMPTS: dict[str, tuple[str, float, float | None]] = {
    "A": ("own guideline, own examples", 68.4, None),
    "B": ("own guideline, AlpacaEval's examples", 66.2, 0.98),
    "C": ("own guideline, no examples", 65.6, 0.98),
    "D": ("AlpacaEval's, no examples", 66.3, 0.95),
}
# How alike two ways of ranking the models are: Spearman, Pearson.
STABILITY: dict[str, tuple[float, float]] = {
    "greedy against temperature 1": (0.98, 0.99),
    "development against evaluation set": (0.98, 0.99),
    "the same, from tables 5 and 7 (29 models)": (0.9812, 0.9915),
}
# Section 4.1: items with which 90 and 80 % of the pairs of 13 models differ at p < .05.
MODELS = 13

SIZES = {"agreement": (438, 11), "development": (430, 8), "evaluation": (4258, 11)}
ANNOTATIONS = {"pairs": 438, "responses a pair": 4, "annotations a response": 4, "seconds": 180.0, "usd_per_hour": 16.0}
CHEAPER = {"GPT-4-Turbo": 12.5, "GPT-4": 37.5}
LENGTH_BIAS_PCT = 1.4

CARD: tuple[tuple[str, str], ...] = (
    ("Size", "4,258 items (evaluation), 430 (development), 438 (agreement with people)"),
    ("Kind", "pairwise, against one fixed baseline"),
    ("Judge", "composite: the best of three methods for each category"),
    ("Task-centred", "yes: 11 categories, 8 in the development set"),
    ("Private", "the evaluation set; the development set is public"),
    ("Human reference", "yes, of every item"),
)
