"""Two processes change the settings of a campaign at once: each change is kept, a stop above all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign import Campaign
from hmc_crowd.store._campaigns import CampaignRepository

if TYPE_CHECKING:
    import pytest


def test_a_stop_is_not_written_over_by_who_read_the_settings_before_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hmc_crowd.campaign._hold import hold

    save, first = CampaignRepository.save_settings, threading.current_thread()
    with Campaign.create(database_url, labels=["a", "b"]) as one, Campaign.open(database_url) as two:

        def stop() -> None:
            with two._context.store.begin() as tx:
                hold(two._context, tx)

        stopping = threading.Thread(target=stop)

        def later(self: CampaignRepository, campaign: int, settings: dict[str, Any]) -> None:
            if threading.current_thread() is first:
                stopping.start()
                stopping.join(1.0)  # time enough, if nothing held it up
            save(self, campaign, settings)

        monkeypatch.setattr(CampaignRepository, "save_settings", later)
        one.set_fair_pay(1_200, currency="EUR")
        stopping.join(30)
        settings = one._context.settings()
    assert settings["stopped"]
    assert [value for value in settings.values() if value == {"EUR": 1_200}]
