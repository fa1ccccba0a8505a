"""What users need to test their own code, and their own adapters, without a network or a database.

`FakePlatform` keeps HITs in memory, records every call, takes functions in place of its own behaviour, and fails
where it is told to, before or after the effect. `platform_conformance` tells whether an adapter keeps the contract of
`hmc_crowd.platform`. `ChaosProxy` breaks the line between a client and a server, byte by byte.
"""

from __future__ import annotations

from hmc_crowd.testing._chaos import ChaosCall, ChaosKind, ChaosProxy
from hmc_crowd.testing._conformance import ConformanceReport, Drive, drive_by_door, platform_conformance
from hmc_crowd.testing._fake import Call, FakePlatform

__all__ = [
    "Call",
    "ChaosCall",
    "ChaosKind",
    "ChaosProxy",
    "ConformanceReport",
    "Drive",
    "FakePlatform",
    "drive_by_door",
    "platform_conformance",
]
