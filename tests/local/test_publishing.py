from dataclasses import replace
from datetime import timedelta

import pytest

from hmc_crowd.errors import InputError, PlatformError


def test_the_same_key_and_content_is_the_same_hit(platform, hit) -> None:
    first = platform.publish(hit("k"))
    assert platform.publish(hit("k")) == first


@pytest.mark.parametrize("change", [{"pay_minor": 26}, {"redundancy": 2}, {"title": "Judge!"}, {"items": ()}])
def test_the_same_key_with_other_content_is_refused(local, hit, change) -> None:
    first = local.publish(hit("k"))
    with pytest.raises((PlatformError, InputError), match="'k'"):
        local.publish(replace(hit("k"), **change))
    assert local.find("k") == first


def test_what_was_published_comes_back(platform, hit) -> None:
    awkward = hit("schlüssel ✓", "näh", "鳥")
    text = "a" * 100_000 + "\n<b>&amp;</b> 😀"
    item = replace(awkward.items[0], text=text, context=("zuvor", "", "'\";--"), labels=("ja", "nein ✗"), aspect="ton")
    published = replace(awkward, items=(item, *awkward.items[1:]), pay_minor=10**12, time_limit_s=90)
    record = platform.publish(published)
    assert platform._at_hit(record.hit_id, lambda desk, _now: desk.hit(record.hit_id).hit) == published


def test_find_of_an_unknown_key_is_none(platform) -> None:
    assert platform.find("nothing") is None


def test_an_expired_hit_is_closed_for_new_workers(platform, hit, clock) -> None:
    remote = platform.publish(hit())
    assert not platform.expire(remote.hit_id).is_open
    clock.advance(5)
    assert not platform.expire(remote.hit_id).is_open
    with pytest.raises(PlatformError, match="is closed; accept is not possible"):
        platform.accept(remote.hit_id, "ann")


def test_a_hit_closes_at_the_end_of_its_lifetime(platform, hit, clock) -> None:
    remote = platform.publish(hit(lifetime_s=60))
    clock.advance(59)
    assert platform.find("hit").is_open
    clock.advance(1)
    assert not platform.find("hit").is_open
    with pytest.raises(PlatformError, match="closed"):
        platform.accept(remote.hit_id, "ann")


def test_a_full_hit_is_not_open(platform, hit) -> None:
    remote = platform.publish(hit(redundancy=2))
    platform.accept(remote.hit_id, "ann")
    assert platform.find("hit").is_open
    platform.accept(remote.hit_id, "bob")
    assert not platform.find("hit").is_open


def test_created_at_is_the_clock_in_utc(platform, hit, clock) -> None:
    created = platform.publish(hit()).created_at
    assert created == clock.now()
    assert created.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": ()}, "at least one item"),
        ({"redundancy": 0}, "redundancy of hit 'k' is 0"),
        ({"pay_minor": -1}, "pay_minor of hit 'k' is -1"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"title": "a\x00b"}, "title of hit 'k' holds a NUL"),
        ({"key": ""}, "give it a key"),
    ],
)
def test_a_hit_that_nobody_could_do_is_refused(local, hit, change, message) -> None:
    with pytest.raises(InputError, match=message):
        local.publish(replace(hit("k"), **change))
    assert local.find("k") is None


def test_a_question_twice_is_refused(local, hit) -> None:
    with pytest.raises(InputError, match="item 'i', aspect 'label' twice"):
        local.publish(hit("k", "i", "i"))


def test_half_a_surrogate_pair_is_refused(local, hit) -> None:
    bad = replace(hit("k"), description="\ud83d")
    with pytest.raises(InputError, match="lone surrogate"):
        local.publish(bad)


def test_show_gives_each_hit_an_address(platform, hit) -> None:
    first = platform.show([hit("a"), hit("b")])
    assert sorted(first) == ["a", "b"]
    assert first["a"] == f"http://127.0.0.1:8000/work/hit/{platform.find('a').hit_id}"
    assert platform.show([hit("a"), hit("b")]) == first


def test_account_says_where_and_hides_the_password(local) -> None:
    account = local.account()
    assert (account.platform, account.mode, account.balance) == ("local", "local", None)
    assert account.endpoint.startswith("sqlite:///")
    assert local.fees.fee_minor(100, redundancy=20) == 0
