"""Do published results come out of published data? The HMCEval paper's tables and figures, beside ours.

:func:`reproduce_hmceval` reads the data that the authors published and returns every table with the paper's number, the
measured one and the difference; ``report.write(folder)`` makes a page, JSON, CSV tables and drawings of it.

:func:`reproduce_href` needs no data: it recomputes HREF's table 2 from its own printed rows.

Sources: Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues";
Lyu, Wang, Hajishirzi, Dasigi (2024), "HREF".
"""

from __future__ import annotations

from hmc_crowd.reproduce._hmceval import HmcevalReport, reproduce_hmceval
from hmc_crowd.reproduce._href import HrefReport, reproduce_href
from hmc_crowd.reproduce._load import HmcevalData, load_hmceval

__all__ = ["HmcevalData", "HmcevalReport", "HrefReport", "load_hmceval", "reproduce_hmceval", "reproduce_href"]
