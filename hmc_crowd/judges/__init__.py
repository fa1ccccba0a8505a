from hmc_crowd.judges._embedding import EmbeddingJudge, cosine
from hmc_crowd.judges._heuristics import LengthJudge, RandomJudge, longer, shorter
from hmc_crowd.judges._judge import LABELS, Judge, fingerprint, outcomes_of
from hmc_crowd.judges._pairs import Pairs, length_of, read_pairs
from hmc_crowd.judges._parse import binary, parse_answer, turned_back
from hmc_crowd.judges._perplexity import PerplexityJudge
from hmc_crowd.judges._rouge import Rouge, RougeJudge, rouge, tokens
