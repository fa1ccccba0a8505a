"""How many final labels are RIGHT? The only certificate here that may say accuracy.

`certify_batch` takes people as right, so it bounds agreement with them. People err too. Here experts (or auditors)
judge, blind, a random sample of the labels that people gave AND one of those that the machine gave; each stratum gets
an exact hypergeometric bound with a part of the allowed error, and both hold together with a probability of at least
`level` (union bound). Labels that the audit found wrong take the expert's.

Gold is no substitute: items whose answer is known are easier than the rest. A bound that takes people's error from
gold has a name of its own, `optimistic_accuracy`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError
from hmc_crowd.routing._certificate import Certificate, certify_batch
from hmc_crowd.routing._checks import count, level_of, share
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AccuracyCertificate", "OptimisticAccuracy", "certify_accuracy", "optimistic_accuracy"]


@dataclass(frozen=True)
class AccuracyCertificate:
    """A lower bound on the share of right labels. Made by `certify_accuracy`.

    Parameters
    ----------
    accuracy_at_least : float
        With confidence `level`, at least this share of all labels is what experts say.
    wrong_at_most, human_wrong_at_most, machine_wrong_at_most : int
        Wrong labels left: in all, among people's, among the machine's.
    items, human : int
        All labels, and those that people gave.
    human_audited, human_wrong, machine_audited, machine_wrong : int
        Labels that experts judged, and found wrong.
    level, human_share_of_error : float
        Joint confidence, and the part of the allowed error that people's stratum got.
    method : str
        How it was computed.
    assumptions : tuple of str
        What must hold.
    """

    accuracy_at_least: float
    wrong_at_most: int
    human_wrong_at_most: int
    machine_wrong_at_most: int
    items: int
    human: int
    human_audited: int
    human_wrong: int
    machine_audited: int
    machine_wrong: int
    level: float
    human_share_of_error: float
    method: str
    assumptions: tuple[str, ...]

    @property
    def value(self) -> float:
        """The bound itself."""
        return self.accuracy_at_least

    @property
    def interval(self) -> tuple[float, float]:
        """The one-sided interval that the bound stands for."""
        return (self.accuracy_at_least, 1.0)

    def __float__(self) -> float:
        return self.accuracy_at_least

    def __str__(self) -> str:
        shown = min(self.accuracy_at_least, 0.9999) if self.wrong_at_most else 1.0
        return (
            f"accuracy >= {shown:.4f} at {100 * self.level:g}%: at most {self.wrong_at_most:,} of {self.items:,} "
            f"labels wrong ({self.human_wrong_at_most:,} of people's {self.human:,}, {self.machine_wrong_at_most:,} "
            f"of the machine's {self.items - self.human:,}; experts judged {self.human_audited:,} and "
            f"{self.machine_audited:,}, {self.human_wrong:,} and {self.machine_wrong:,} wrong)"
        )

    def _repr_html_(self) -> str:
        return html_table("Accuracy certificate", asdict(self).items())

    def to_frame(self) -> pd.DataFrame:
        """Return one row with a column per field but the assumptions."""
        import pandas as pd

        row = asdict(self)
        del row["assumptions"]
        return pd.DataFrame([row])


def certify_accuracy(
    items: int,
    human: int,
    *,
    human_audited: int,
    human_wrong: int,
    machine_audited: int,
    machine_wrong: int,
    human_unanswered: int = 0,
    machine_unanswered: int = 0,
    level: float = 0.95,
    human_share_of_error: float = 0.5,
) -> AccuracyCertificate:
    """Bound the wrong labels of a batch, people's own errors included.

    Parameters
    ----------
    items, human : int
        Final labels, and those among them that people gave (an audit by the same people included); the machine gave
        the others.
    human_audited, machine_audited : int
        People's and the machine's labels that experts judged: a simple random sample of each.
    human_wrong, machine_wrong : int
        Those found wrong; they take the expert's label.
    human_unanswered, machine_unanswered : int, default 0
        Drawn labels that no expert has judged yet; they count as wrong.
    level : float, default 0.95
        Joint confidence.
    human_share_of_error : float, default 0.5
        Part of the allowed error that people's stratum gets, in (0, 1); fix it before the audit.

    Returns
    -------
    AccuracyCertificate

    Raises
    ------
    InputError
        The counts contradict one another, or a share is out of range.

    Examples
    --------
    >>> print(certify_accuracy(5673, 2836, human_audited=300, human_wrong=6, machine_audited=300, machine_wrong=9))
    accuracy >= 0.9545 at 95%: at most 258 of 5,673 labels wrong (112 of people's 2,836, 146 of the machine's 2,837;
    experts judged 300 and 300, 6 and 9 wrong)
    """
    part = share("human_share_of_error", human_share_of_error, open_low=True)
    confidence = level_of(level)
    if part >= 1.0:
        raise InputError("human_share_of_error is 1; leave the machine's stratum a part of the error")
    n, people = count("items", items, least=1), count("human", human)
    if people > n:
        raise InputError(f"human is {people} of {n} items; people cannot have judged more than there are")
    alpha = 1.0 - confidence
    by_people = _stratum("human", people, human_audited, human_wrong, human_unanswered, 1.0 - alpha * part)
    by_machine = _stratum(
        "machine", n - people, machine_audited, machine_wrong, machine_unanswered, 1.0 - alpha * (1.0 - part)
    )
    return AccuracyCertificate(
        accuracy_at_least=(n - by_people - by_machine) / n,
        wrong_at_most=by_people + by_machine,
        human_wrong_at_most=by_people,
        machine_wrong_at_most=by_machine,
        items=n,
        human=people,
        human_audited=human_audited,
        human_wrong=human_wrong,
        machine_audited=machine_audited,
        machine_wrong=machine_wrong,
        level=confidence,
        human_share_of_error=part,
        method="two hypergeometric bounds that share the allowed error",
        assumptions=(
            "each audit is a simple random sample of its stratum, drawn before anyone judged it",
            "experts judged blind: they saw neither the machine's label nor people's",
            "what the expert says is right",
            "holds for this batch only, not for later traffic",
        ),
    )


def _stratum(name: str, size: int, audited: int, wrong: int, unanswered: int, level: float) -> int:
    if size == 0:
        if count(f"{name}_audited", audited):
            raise InputError(f"{name}_audited is {audited}, but {name} gave no label of this batch")
        return 0
    try:
        return certify_batch(size, 0, audited, wrong, level=level, unanswered=unanswered).wrong_at_most
    except InputError as error:
        raise InputError(f"{name} stratum of {size} labels: {error}") from None


@dataclass(frozen=True)
class OptimisticAccuracy:
    """A bound on accuracy that holds only if gold is as hard as other items. Made by `optimistic_accuracy`.

    Parameters
    ----------
    optimistic_accuracy_at_least : float
        With confidence `level`, IF people err on other items no more than on gold.
    agreement_at_least, human_error_at_most : float
        The two parts: agreement with people, and people's error rate by gold.
    gold, gold_wrong : int
        Gold answers, and wrong ones.
    level : float
        Joint confidence.
    assumptions : tuple of str
        What must hold; the first is rarely true.
    """

    optimistic_accuracy_at_least: float
    agreement_at_least: float
    human_error_at_most: float
    gold: int
    gold_wrong: int
    level: float
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"optimistic accuracy >= {self.optimistic_accuracy_at_least:.4f} at {100 * self.level:g}%, if gold is as "
            f"hard as other items (agreement >= {self.agreement_at_least:.4f}, people's error by gold <= "
            f"{self.human_error_at_most:.4f}); for accuracy itself audit people's labels: certify_accuracy"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row with a column per field but the assumptions."""
        import pandas as pd

        row = asdict(self)
        del row["assumptions"]
        return pd.DataFrame([row])


def optimistic_accuracy(certificate: Certificate, gold: int, gold_wrong: int, *, level: float) -> OptimisticAccuracy:
    """Bound accuracy with people's error taken from gold: optimistic, and named so.

    Parameters
    ----------
    certificate : Certificate
        Of the batch's agreement, made at a higher level than `level`: the rest of the error goes to the gold bound.
    gold, gold_wrong : int
        Final labels of people on gold items, and wrong ones among them.
    level : float
        Joint confidence; below the certificate's.

    Returns
    -------
    OptimisticAccuracy

    Raises
    ------
    InputError
        The certificate's level leaves no error for gold, or the counts contradict one another.

    Examples
    --------
    >>> from hmc_crowd.routing import certify_batch
    >>> print(optimistic_accuracy(certify_batch(5673, 2836, 500, 15, level=0.975), 400, 4, level=0.95))
    optimistic accuracy >= 0.9536 at 95%, if gold is as hard as other items (agreement >= 0.9790, people's error
    by gold <= 0.0254); for accuracy itself audit people's labels: certify_accuracy
    """
    confidence = level_of(level)
    if certificate.level <= confidence:
        raise InputError(
            f"the certificate has level {certificate.level:g}; make it above {confidence:g}, such as "
            f"{1 - (1 - confidence) / 2:g}, so that a part of the error is left for gold"
        )
    n, found = count("gold", gold, least=1), count("gold_wrong", gold_wrong)
    if found > n:
        raise InputError(f"gold_wrong is {found} of {n} gold answers")
    from scipy.special import betaincinv

    # Both bounds fail together with a probability of at most (1 - certificate's level) + the rest.
    rest = (1.0 - confidence) - (1.0 - certificate.level)
    error = 1.0 if found == n else float(betaincinv(found + 1, n - found, 1.0 - rest))
    return OptimisticAccuracy(
        optimistic_accuracy_at_least=max(0.0, certificate.agreement_at_least - error),
        agreement_at_least=certificate.agreement_at_least,
        human_error_at_most=error,
        gold=n,
        gold_wrong=found,
        level=confidence,
        assumptions=(
            "gold is as hard as other items (usually it is easier), and gold answers are independent",
            "an item on which the final label agrees with people is right where people are",
            "people err on this batch at their rate on gold, neither luckier nor unluckier",
            *certificate.assumptions,
        ),
    )
