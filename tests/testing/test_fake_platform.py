import numpy as np
import pytest

from hmc_crowd.errors import InputError, PlatformError, PlatformUnavailableError
from hmc_crowd.platform import Capabilities, FeeSchedule, Hit, HitItem, RemoteHit, SubmissionState, TaskPages
from hmc_crowd.simulation import SimulatedCrowd, draw_workers
from hmc_crowd.testing import Call, FakePlatform, drive_by_door


def make_hit(key="k", *, redundancy=1, n=2):
    items = tuple(HitItem(f"{key}-{i}", "label", "g", i, "text", labels=("yes", "no")) for i in range(n))
    return Hit(key, "t", "d", items, redundancy, 5, "USD")


def test_every_call_is_recorded_in_order() -> None:
    platform = FakePlatform()
    remote = platform.publish(make_hit())
    name = drive_by_door(platform, remote, make_hit(), "ann", "submit")
    list(platform.submissions([remote.hit_id]))
    platform.approve(name)
    assert platform.calls == [
        Call("publish", (make_hit(),)),
        Call("submissions", ((remote.hit_id,),)),
        Call("approve", (name,)),
    ]


def test_failing_before_the_effect_leaves_nothing() -> None:
    platform = FakePlatform()
    platform.fail("publish", when="before")
    with pytest.raises(
        PlatformUnavailableError, match=r"publish failed before its effect, as the test asked \(call 1\)"
    ):
        platform.publish(make_hit())
    assert platform.find("k") is None
    assert platform.publish(make_hit()).is_open


def test_failing_after_the_effect_leaves_it_done() -> None:
    platform = FakePlatform()
    platform.fail("publish", when="after")
    with pytest.raises(PlatformUnavailableError, match="after"):
        platform.publish(make_hit())
    assert platform.hit_ids("k") == [platform.find("k").hit_id]


def test_the_nth_call_from_now_fails_with_the_error_given() -> None:
    platform = FakePlatform()
    platform.find("x")
    platform.fail("find", at=2, error=TimeoutError("slow"))
    assert platform.find("x") is None
    with pytest.raises(TimeoutError, match="slow"):
        platform.find("x")
    assert platform.find("x") is None


def test_a_function_takes_the_place_of_a_method() -> None:
    now = FakePlatform().clock.now()
    platform = FakePlatform(functions={"find": lambda key: RemoteHit("remote", key, 1, False, now)})
    platform.fail("find", at=2)
    assert platform.find("k").hit_id == "remote"
    with pytest.raises(PlatformUnavailableError):
        platform.find("k")
    assert [each.method for each in platform.calls] == ["find", "find"]


def test_without_idempotence_a_second_publish_makes_a_second_hit() -> None:
    platform = FakePlatform(capabilities=Capabilities())
    first, second = platform.publish(make_hit()), platform.publish(make_hit())
    assert platform.hit_ids("k") == [first.hit_id, second.hit_id]
    assert platform.find("k").hit_id == second.hit_id


def test_a_rejection_frees_the_place_where_asked() -> None:
    platform = FakePlatform(capabilities=Capabilities(rejection_frees_slot=True))
    remote = platform.publish(make_hit())
    platform.reject(drive_by_door(platform, remote, make_hit(), "ann", "submit"), "Wrong.")
    drive_by_door(platform, remote, make_hit(), "bob", "submit")
    states = [each.state for each in platform.submissions([remote.hit_id])]
    assert states == [SubmissionState.REJECTED, SubmissionState.SUBMITTED]


def test_a_crowd_can_rehearse_on_it() -> None:
    platform = FakePlatform()
    hits = [make_hit(f"h{i}", redundancy=3) for i in range(4)]
    ids = [platform.publish(each).hit_id for each in hits]
    rng = np.random.default_rng(0)
    truth = {each.item: "yes" for hit in hits for each in hit.items}
    crowd = SimulatedCrowd(draw_workers(6, ["yes", "no"], accuracy=1.0, spread=0.0, rng=rng), truth, rng=rng)
    assert platform.rehearse(crowd, max_submissions=5) == 5
    assert platform.rehearse(crowd) == 7
    names = [each.submission_id for each in platform.submissions(ids)]
    assert {each.label for answers in platform.answers(names).values() for each in answers} == {"yes"}


def test_deadlines_follow_its_clock() -> None:
    platform = FakePlatform()
    remote = platform.publish(make_hit())
    drive_by_door(platform, remote, make_hit(), "ann", "accept")
    platform.clock.advance(3601)
    assert [each.state for each in platform.submissions([remote.hit_id])] == [SubmissionState.EXPIRED]
    assert platform.find("k").is_open


def test_it_is_a_platform_with_pages_and_fees() -> None:
    platform = FakePlatform(fees=FeeSchedule(minimum_minor=3), name="other")
    assert isinstance(platform, TaskPages)
    assert platform.fees.fee_minor(0) == 3
    assert platform.account().platform == "other"


def test_refusals_are_the_workplaces() -> None:
    platform = FakePlatform()
    with pytest.raises(PlatformError, match="submission 'x' is unknown"):
        platform.approve("x")
    with pytest.raises(InputError, match="reason is empty"):
        platform.reject("x", "")


@pytest.mark.parametrize(
    "call",
    [
        lambda: FakePlatform(functions={"pay": print}),
        lambda: FakePlatform().fail("pay"),
        lambda: FakePlatform().fail("publish", at=0),
        lambda: FakePlatform().fail("publish", when="during"),
    ],
)
def test_wrong_orders_to_the_fake_are_refused(call) -> None:
    with pytest.raises(InputError, match="is"):
        call()
