"""Everything that bounds what is still wrong, in one place, by what the bound is about.

| about | function | says |
|---|---|---|
| this batch, audit of items | `certify_batch`, `certify_labels`, `certify_strata` | ``agreement_at_least`` |
| the same, several fixed looks | `certify_rounds` | ``agreement_at_least`` |
| the same, looks at will | `certify_any_time` | ``agreement_at_least`` |
| this batch, audit of whole groups | `certify_groups` | ``agreement_at_least`` |
| this batch, people's errors measured by experts | `certify_accuracy` | ``accuracy_at_least`` |
| this batch, people's errors guessed from gold | `optimistic_accuracy` | ``optimistic_accuracy_at_least`` |
| traffic to come | `bound_future_errors`, `bound_future_errors_in_groups` | ``error_rate_at_most`` |
| traffic so far, looks at will | `ErrorSequence`, `DriftingErrorSequence` | ``interval`` |
| a setting chosen on labels | `choose_setting`, `choose_threshold` | ``agreement_at_least`` |

`audit_size` says how large an audit must be. None of the shortcuts that hold less often than they say is here: no
rate times unaudited items for a batch, no formula for items on whole groups, no bound from labels used twice.
"""

from __future__ import annotations

from hmc_crowd.routing._accuracy import AccuracyCertificate, OptimisticAccuracy, certify_accuracy, optimistic_accuracy
from hmc_crowd.routing._anytime import certify_any_time
from hmc_crowd.routing._audit_size import AuditSize, allowed_wrong, audit_size, certification_chance
from hmc_crowd.routing._certificate import Certificate, certify_batch
from hmc_crowd.routing._certify_labels import LossCertificate, certify_labels
from hmc_crowd.routing._choose_setting import ChosenSetting, choose_setting, choose_threshold
from hmc_crowd.routing._error_sequence import DriftingErrorSequence, ErrorSequence
from hmc_crowd.routing._future import FutureRate, bound_future_errors, bound_future_errors_in_groups
from hmc_crowd.routing._group_certificate import certify_groups
from hmc_crowd.routing._learn_then_test import learn_then_test
from hmc_crowd.routing._spending import AlphaSpending, certify_rounds
from hmc_crowd.routing._strata import AuditCounts, certify_strata

__all__ = [
    "AccuracyCertificate",
    "AlphaSpending",
    "AuditCounts",
    "AuditSize",
    "Certificate",
    "ChosenSetting",
    "DriftingErrorSequence",
    "ErrorSequence",
    "FutureRate",
    "LossCertificate",
    "OptimisticAccuracy",
    "allowed_wrong",
    "audit_size",
    "bound_future_errors",
    "bound_future_errors_in_groups",
    "certification_chance",
    "certify_accuracy",
    "certify_any_time",
    "certify_batch",
    "certify_groups",
    "certify_labels",
    "certify_rounds",
    "certify_strata",
    "choose_setting",
    "choose_threshold",
    "learn_then_test",
    "optimistic_accuracy",
]
