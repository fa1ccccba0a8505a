"""From labels to certificate: the audit's answers in, checked for their evidence and used once.

`certify_batch` takes counts and has to believe them. `certify_labels` takes the labels themselves as `CertifyData`,
so that suggested or model-made ones, and a second use, are refused; and it bounds any loss: for scores the share that
is off by more than a tolerance, or the mean error itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.routing._certificate import Certificate, certify_batch
from hmc_crowd.routing._checks import audit_counts, level_of
from hmc_crowd.routing._data_roles import CertifyData, require_kind
from hmc_crowd.routing._group_certificate import most_in_all
from hmc_crowd.routing._losses import Loss, ZeroOne, losses_of
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["LossCertificate", "certify_labels"]


@dataclass(frozen=True)
class LossCertificate:
    """An upper bound on the mean loss of a batch's final labels. Made by `certify_labels`.

    Parameters
    ----------
    mean_loss_at_most : float
        With confidence `level`, over all items; people's labels have loss 0.
    loss : str
        What was measured.
    items, human, audited, unanswered : int
        All items; judged by people by plan; drawn for audit; drawn ones without an answer (loss 1).
    audit_mean_loss : float
        Mean loss of the machine's labels in the audit; NaN without one.
    level, method, assumptions
        Confidence, how, and what must hold.
    """

    mean_loss_at_most: float
    loss: str
    items: int
    human: int
    audited: int
    unanswered: int
    audit_mean_loss: float
    level: float
    method: str
    assumptions: tuple[str, ...]

    @property
    def value(self) -> float:
        """The bound itself."""
        return self.mean_loss_at_most

    def __float__(self) -> float:
        return self.mean_loss_at_most

    def __str__(self) -> str:
        return (
            f"mean {self.loss} <= {self.mean_loss_at_most:.4f} at {100 * self.level:g}% over {self.items:,} items "
            f"({self.human:,} judged by people, {self.audited:,} audited with mean {self.audit_mean_loss:.4f})"
        )

    def _repr_html_(self) -> str:
        return html_table("Loss certificate", asdict(self).items())

    def to_frame(self) -> pd.DataFrame:
        """Return one row with a column per field but the assumptions."""
        import pandas as pd

        row: dict[str, Any] = asdict(self)
        del row["assumptions"]
        return pd.DataFrame([row])


def certify_labels(
    data: CertifyData,
    *,
    items: int,
    human: int,
    unanswered: int = 0,
    loss: Loss | None = None,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Certificate | LossCertificate:
    """Bound what is left wrong in a batch, from the labels of an audit of items.

    Parameters
    ----------
    data : CertifyData
        The answered audit items: a simple random sample of what the machine kept, blind labels. They are spent.
    items, human : int
        Items of the batch, and those that people judged by plan.
    unanswered : int, default 0
        Drawn items without an answer.
    loss : Loss, default ``ZeroOne()``
        What a wrong label costs. Losses of 0 and 1 give a `Certificate`, others a `LossCertificate`.
    level : float, default 0.95
        Confidence of the bound.
    rng : numpy.random.Generator, optional
        Needed for losses other than 0 and 1: their bound plays the sample in a random order.

    Returns
    -------
    Certificate or LossCertificate

    Raises
    ------
    InputError
        `data` is not `CertifyData`, or the counts contradict one another.
    StateError
        The labels were spent before.

    Examples
    --------
    >>> audit = CertifyData(range(200), ["a"] * 200, ["a"] * 194 + ["b"] * 6, "people_blind")
    >>> round(certify_labels(audit, items=5673, human=2836).agreement_at_least, 4)
    0.9725
    """
    require_kind(data, CertifyData)
    measure = ZeroOne() if loss is None else loss
    values = losses_of(measure, data.truth, data.machine)
    if measure.binary:
        drawn, wrong = len(values) + unanswered, int(values.sum())
        result = certify_batch(items, human, drawn, wrong, level=level, unanswered=unanswered)
        data.spend("a certificate")
        return result
    if rng is None:
        raise InputError(f"rng is missing; {measure!r} is bounded by playing the audit in a random order: pass one")
    bound = _bounded(values, items, human, unanswered, repr(measure), level_of(level), rng)
    data.spend("a certificate")
    return bound


def _bounded(
    values: NDArray[np.float64],
    items: int,
    human: int,
    unanswered: int,
    loss: str,
    level: float,
    rng: np.random.Generator,
) -> LossCertificate:
    n, people, drawn, _, waiting = audit_counts(items, human, len(values) + unanswered, 0, unanswered)
    kept = n - people
    # Unanswered ones stay in the batch with the worst loss, and take part in the bound with it.
    played = rng.permutation(np.concatenate((values, np.ones(waiting))))
    most = most_in_all(
        played,
        np.ones(drawn),
        kept=kept,
        n_groups=kept,
        largest=1,
        alpha=1.0 - level,
        by_size=True,
        step=max(kept, 1) * 1e-7,
    )
    return LossCertificate(
        mean_loss_at_most=(most - float(values.sum())) / n,
        loss=loss,
        items=n,
        human=people,
        audited=drawn,
        unanswered=waiting,
        audit_mean_loss=float(values.mean()) if len(values) else float("nan"),
        level=level,
        method="bets on the audited items in random order",
        assumptions=(
            "the audit is a simple random sample of the items that the machine kept",
            "audited items take the people's label, given without seeing the machine's; people's labels have loss 0",
            "holds for this batch only, not for later traffic",
        ),
    )
