"""Do published results come out of published data? The HMCEval paper's tables and figures, beside ours.

:func:`reproduce_hmceval` reads the data that the authors published and returns every table with the paper's number, the
measured one and the difference; ``report.write(folder)`` makes a page, JSON, CSV tables and drawings of it.

Source: Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues".
"""

from __future__ import annotations

from hmc_crowd.reproduce._hmceval import HmcevalReport, reproduce_hmceval
from hmc_crowd.reproduce._load import HmcevalData, load_hmceval

__all__ = ["HmcevalData", "HmcevalReport", "load_hmceval", "reproduce_hmceval"]
