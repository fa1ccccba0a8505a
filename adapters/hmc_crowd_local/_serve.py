"""What `hmc-crowd serve` serves of the workplace: the pages for people at work, and the MTurk-API front door."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hmc_crowd._base.serving import Mount

if TYPE_CHECKING:
    from hmc_crowd._base.serving import ServeSettings
    from hmc_crowd_local.mturk_api import Deliverer

__all__ = ["mount_front_door", "mount_pages"]


def mount_pages(settings: ServeSettings) -> Mount:
    """Serve the task pages under ``/work``."""
    from hmc_crowd_local.pages import PagesSettings, Study, make_pages_app, read_study

    study = Study() if settings.study is None else read_study(settings.study)
    pages = PagesSettings(
        public_url=settings.public_url,
        completion=settings.completion,
        study=study,
        submit_origin=settings.environment.get("HMC_CROWD_SUBMIT_ORIGIN", "").strip(),
    )
    local = settings.workplace
    app = make_pages_app(local, secret=local.secret("pages"), settings=pages)
    return Mount("/work", app, shown=(("pages for people at work", "/work/"),))


def mount_front_door(settings: ServeSettings) -> Mount:
    """Serve the MTurk API at the root, and its workers' pages under ``/mturk``."""
    from hmc_crowd_local.mturk_api import Settings, build_app

    parts = urlsplit(settings.public_url)
    deliverer = _deliverer(settings)
    named = settings.environment.get("HMC_CROWD_MTURK_HOSTS", "").split(",")
    door = settings.workplace.front_door(
        Settings(
            public_origin=f"{parts.scheme}://{parts.netloc}",
            hosts=[each.strip() for each in [*named, settings.bound] if each.strip()],
            allow_http=settings.is_local,
            deliver=deliverer,
        )
    )
    shown = (("MTurk API (endpoint_url of a script)", "/"), ("its workers' list", "/mturk/hits"))
    return Mount("", build_app(door), shown=shown, close=None if deliverer is None else deliverer.close)


def _deliverer(settings: ServeSettings) -> Deliverer | None:
    """Deliver events to the hosts of ``HMC_CROWD_NOTIFY_HOSTS``, separated by commas; to nobody without."""
    from hmc_crowd_local.mturk_api import Deliverer

    given = settings.environment.get("HMC_CROWD_NOTIFY_HOSTS", "")
    hosts = [each.strip() for each in given.split(",") if each.strip()]
    secret = settings.environment.get("HMC_CROWD_NOTIFY_SECRET", "").encode() or settings.workplace.secret("notify")
    return Deliverer(hosts, secret=secret, clock=settings.clock) if hosts else None
