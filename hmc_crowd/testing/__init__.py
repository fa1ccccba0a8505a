"""What users need to test their own code, and their own adapters, without a network or a database.

`FakePlatform` keeps HITs in memory, records every call, takes functions in place of its own behaviour, and fails
where it is told to, before or after the effect. `platform_conformance` tells whether an adapter keeps the contract of
`hmc_crowd.platform`.
"""

from __future__ import annotations

from hmc_crowd.testing._conformance import ConformanceReport, Drive, drive_by_door, platform_conformance
from hmc_crowd.testing._fake import Call, FakePlatform

__all__ = ["Call", "ConformanceReport", "Drive", "FakePlatform", "drive_by_door", "platform_conformance"]
