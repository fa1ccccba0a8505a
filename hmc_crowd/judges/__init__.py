"""Which response would a machine prefer, and how far may one trust it? HREF's evaluators as predictions for the loop.

A judge takes pairs of responses and returns one judgement each, 'a', 'b' or 'tie', with a probability, its raw words,
seconds and cost. From there the loop goes on: calibrate on people's labels, route the doubtful pairs to people,
aggregate, and report the win rate with an interval.

Guarantee: no judgement is made up. What could not be read, asked, or sent stays without a label, with the reason, and
a plan sends it to people first.

Source: Lyu, Wang, Hajishirzi, Dasigi (2024), "HREF". Multi-turn judging and absolute ratings are out of its scope;
`hmc_crowd.metrics.score_report` covers scores.
"""

from __future__ import annotations

from hmc_crowd.judges._alternative import AlternativeAnnotator, alternative_annotator_test
from hmc_crowd.judges._ask import Client, Completion, Request
from hmc_crowd.judges._cache import JudgeCache
from hmc_crowd.judges._calibration import JudgeCalibration, as_predictions
from hmc_crowd.judges._card import BenchmarkCard, benchmark_card
from hmc_crowd.judges._cascade import Cascade, CascadeChoice
from hmc_crowd.judges._composite import CompositeJudge
from hmc_crowd.judges._direct import AgainstPerson
from hmc_crowd.judges._embedding import EmbeddingJudge, cosine
from hmc_crowd.judges._example import example_pairs
from hmc_crowd.judges._heuristics import LengthJudge, RandomJudge, longer, shorter
from hmc_crowd.judges._judge import LABELS, Judge, fingerprint, outcomes_of
from hmc_crowd.judges._llm import LLMJudge
from hmc_crowd.judges._local_model import CausalPerplexity, LocalModel
from hmc_crowd.judges._needed import PeopleNeeded, people_needed
from hmc_crowd.judges._pairs import Pairs, length_of, read_pairs
from hmc_crowd.judges._parse import binary, parse_answer, turned_back
from hmc_crowd.judges._perplexity import PerplexityJudge
from hmc_crowd.judges._pin import JudgePin, check_pin, pin_judge
from hmc_crowd.judges._references import compare_references
from hmc_crowd.judges._rouge import Rouge, RougeJudge, rouge, tokens
from hmc_crowd.judges._sample import LengthBalance, length_balance, sample_pairs
from hmc_crowd.judges._stability import Stability, compare_rankings, model_rates
from hmc_crowd.judges._study import JudgeReport, JudgeStudy, compare_judges
from hmc_crowd.judges._template import Template, load_template
from hmc_crowd.judges._win_rates import WinRates, win_rates

__all__ = [
    "LABELS",
    "AgainstPerson",
    "AlternativeAnnotator",
    "BenchmarkCard",
    "Cascade",
    "CascadeChoice",
    "CausalPerplexity",
    "Client",
    "Completion",
    "CompositeJudge",
    "EmbeddingJudge",
    "Judge",
    "JudgeCache",
    "JudgeCalibration",
    "JudgePin",
    "JudgeReport",
    "JudgeStudy",
    "LLMJudge",
    "LengthBalance",
    "LengthJudge",
    "LocalModel",
    "Pairs",
    "PeopleNeeded",
    "PerplexityJudge",
    "RandomJudge",
    "Request",
    "Rouge",
    "RougeJudge",
    "Stability",
    "Template",
    "WinRates",
    "alternative_annotator_test",
    "as_predictions",
    "benchmark_card",
    "binary",
    "check_pin",
    "compare_judges",
    "compare_rankings",
    "compare_references",
    "cosine",
    "example_pairs",
    "fingerprint",
    "length_balance",
    "length_of",
    "load_template",
    "longer",
    "model_rates",
    "outcomes_of",
    "parse_answer",
    "people_needed",
    "pin_judge",
    "read_pairs",
    "rouge",
    "sample_pairs",
    "shorter",
    "tokens",
    "turned_back",
    "win_rates",
]
