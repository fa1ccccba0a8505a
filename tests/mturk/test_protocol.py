"""The wire: signatures, content types, shapes, refusals."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hmc_crowd_local.mturk_api import Key
from hypothesis import given
from hypothesis import strategies as st
from mturk_house import EXTERNAL, boto

TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


def signed(house, *, body=b"{}", key=None, region="us-east-1", service="mturk-requester", query="", **headers):
    used = key or house.key
    names = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": TARGET, **headers}
    request = AWSRequest("POST", house.url + "/" + query, data=body, headers=names)
    SigV4Auth(Credentials(used.access_key_id, used.secret_access_key), service, region).add_auth(request)
    prepared = request.prepare()
    return {name: value if isinstance(value, str) else value.decode() for name, value in prepared.headers.items()}


def post(house, headers, body=b"{}", query=""):
    answer = httpx.post(house.url + "/" + query, headers=headers, content=body, timeout=20)
    return answer.status_code, answer.json()


def test_a_good_signature_passes(house) -> None:
    status, document = post(house, signed(house))
    assert (status, document["AvailableBalance"]) == (200, "10000.00")


def test_a_query_is_covered_by_the_signature(house) -> None:
    headers = signed(house, query="?b=2&a=1%2F3")
    assert post(house, headers, query="?b=2&a=1%2F3")[0] == 200
    assert post(house, headers, query="?b=2&a=1")[0] == 403


def test_what_a_signature_covers_cannot_be_changed(house) -> None:
    good = signed(house)
    bad = [
        (good, b"[]"),
        ({**good, "X-Amz-Target": TARGET.replace("GetAccountBalance", "ListHITs")}, b"{}"),
        ({**good, "Host": "elsewhere.example.org"}, b"{}"),
        ({**good, "Authorization": good["Authorization"].replace("Signature=", "Signature=0")[:-1]}, b"{}"),
    ]
    for headers, body in bad:
        status, document = post(house, headers, body)
        assert (status, document["__type"]) == (403, "InvalidSignatureException")
        assert document["TurkErrorCode"] == "AWS.NotAuthorized"


def test_requests_without_a_good_key_are_refused(house) -> None:
    names = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": TARGET}
    assert post(house, names)[1]["__type"] == "MissingAuthenticationTokenException"
    assert post(house, {**names, "Authorization": "Bearer x"})[1]["__type"] == "IncompleteSignatureException"
    unknown = Key("HMCNOBODY", "secret")
    assert post(house, signed(house, key=unknown))[1]["__type"] == "UnrecognizedClientException"
    wrong = Key(house.key.access_key_id, "wrong")
    assert post(house, signed(house, key=wrong))[1]["__type"] == "InvalidSignatureException"
    assert post(house, signed(house, region="eu-west-1"))[1]["__type"] == "InvalidSignatureException"
    assert post(house, signed(house, service="s3"))[1]["__type"] == "InvalidSignatureException"


def test_a_revoked_key_is_refused(house) -> None:
    house.door.revoke_key(house.key.access_key_id)
    assert post(house, signed(house))[0] == 403


@pytest.mark.parametrize("minutes", [-10, 10])
def test_clock_skew_is_refused_with_a_sentence(house, minutes) -> None:
    class Clock:
        def now(self):
            return datetime.now(UTC) + timedelta(minutes=minutes)

    house.door.signing_clock = Clock()
    status, document = post(house, signed(house))
    assert (status, "set your clock" in document["Message"]) == (403, True)


def test_a_signature_must_cover_target_host_and_date(house) -> None:
    headers = signed(house)
    short = headers["Authorization"].replace("host;", "")
    assert "SignedHeaders lacks host" in post(house, {**headers, "Authorization": short})[1]["Message"]


def test_accounts_do_not_see_each_other(house, client) -> None:
    hit_id = house.hit()
    stranger = boto(house.url, house.door.issue_key("other"))
    assert stranger.list_hits()["HITs"] == []
    with pytest.raises(stranger.exceptions.RequestError) as caught:
        stranger.get_hit(HITId=hit_id)
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.HITDoesNotExist"
    name = house.work(hit_id, "A1")
    with pytest.raises(stranger.exceptions.RequestError):
        stranger.approve_assignment(AssignmentId=name)


def test_unknown_operations_and_bodies_are_refused(house) -> None:
    unknown = "MTurkRequesterServiceV20170117.CloseService"
    assert post(house, signed(house, **{"X-Amz-Target": unknown}))[1]["__type"] == "UnknownOperationException"
    assert post(house, signed(house, **{"X-Amz-Target": "Other.ListHITs"}))[1]["__type"] == "UnknownOperationException"
    for body in (b"{", b"[]", b"\xff", b"[" * 5000):
        assert post(house, signed(house, body=body), body)[1]["__type"] == "SerializationException"
    typed = signed(house, **{"Content-Type": "text/plain"})
    assert post(house, typed)[1]["__type"] == "SerializationException"


def test_too_large_a_body_is_not_read(make_house) -> None:
    house = make_house(most_request_bytes=1000)
    body = json.dumps({"x": "y" * 2000}).encode()
    assert post(house, signed(house, body=body), body)[0] == 413


GOOD = {
    "Title": "T", "Description": "D", "Reward": "0.05", "AssignmentDurationInSeconds": 60, "LifetimeInSeconds": 3600,
    "Question": EXTERNAL,
}  # fmt: skip
BAD = [
    ({"Reward": "0.105"}, "Reward is '0.105'"),
    ({"Reward": "1\n"}, "does not match"),
    ({"Title": None}, "Title is missing"),
    ({"Title": "x" * 129}, "Title has 129 characters"),
    ({"Title": " "}, "Title is empty"),
    ({"Title": "a\x00b"}, "NUL"),
    ({"Description": "x" * 2001}, "Description has 2001"),
    ({"Keywords": "x" * 1001}, "Keywords has 1001"),
    ({"AssignmentDurationInSeconds": 29}, "must lie between 30"),
    ({"AssignmentDurationInSeconds": 10**30}, "too large"),
    ({"AssignmentDurationInSeconds": 60.5}, "not an integer"),
    ({"LifetimeInSeconds": 31_536_001}, "must lie between 30"),
    ({"AutoApprovalDelayInSeconds": 2_592_001}, "must lie between 0"),
    ({"MaxAssignments": 0}, "must lie between 1"),
    ({"MaxAssignments": True}, "not an integer"),
    ({"RequesterAnnotation": "x" * 256}, "RequesterAnnotation has 256"),
    ({"UniqueRequestToken": "x" * 65}, "has 65 characters"),
    ({"UniqueRequestToken": ""}, "has 0 characters"),
    ({"Colour": "red"}, "Colour is unknown"),
    ({"Question": None}, "exactly one of Question and HITLayoutId"),
    ({"HITLayoutId": "L1"}, "exactly one of Question and HITLayoutId"),
    ({"Question": "<a/>"}, "not known"),
    ({"Question": "<a>"}, "parsing the XML"),
    ({"Question": EXTERNAL.replace("2006-07-14", "2007-07-14")}, "not known"),
    ({"Question": EXTERNAL.replace("https://", "http://")}, "must begin with https"),
    ({"Question": EXTERNAL.replace("600", "tall")}, "FrameHeight"),
    ({"Question": EXTERNAL.replace("a=1", "a=" + "1" * 65_535)}, "at most 65535"),
    ({"Question": EXTERNAL.replace("a=1", "\U0001f600")}, "4-byte"),
    ({"QualificationRequirements": [{"QualificationTypeId": "00000000000000000040", "Comparator": "By"}]}, "one of"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD)
def test_what_does_not_fit_is_refused_and_changes_nothing(door, change, message) -> None:
    from hmc_crowd_local.mturk_api import TurkError

    request = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    with pytest.raises(TurkError, match=message):
        door.call("main", "CreateHIT", request)
    assert door.call("main", "ListHITs", {})["HITs"] == []
    assert door.call("main", "GetAccountBalance", {})["OnHoldBalance"] == "0.00"


def test_a_validation_error_looks_like_the_services(house, client) -> None:
    with pytest.raises(client.exceptions.ClientError) as caught:
        house.hit(Reward="0.105")
    assert caught.value.response["Error"]["Code"] == "ParameterValidationError"
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.get_hit(HITId="NOSUCHHIT")
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.HITDoesNotExist"
    assert caught.value.response["Error"]["Code"] == "RequestError"
    assert str(caught.value).endswith(" s)")


def test_a_fault_inside_tells_nothing(house, client, monkeypatch) -> None:
    from hmc_crowd.errors import StoreError

    def fail(*_a, **_k):
        raise StoreError("the secret path /srv/db")

    monkeypatch.setattr(house.door, "call", fail)
    with pytest.raises(client.exceptions.ServiceFault) as caught:
        client.list_hits()
    assert "secret" not in str(caught.value)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=12,
    ),
    st.sampled_from([*sorted(GOOD), "QualificationRequirements", "HITReviewPolicy", "HITLayoutParameters"]),
)
def test_no_document_breaks_the_check(document, name) -> None:
    from hmc_crowd_local.mturk_api._shapes import problems_of, read_times, service_model

    shape = service_model().operation_model("CreateHIT").input_shape
    request = {**GOOD, name: document}
    if not list(problems_of(shape, request)):
        read_times(shape, request)


# A request that was signed for another server is not for this one.


def as_host(house, host: str, body: bytes = b"{}"):
    """Sign for a host and send it here: what a proxy before this server, or a thief behind another one, does."""
    names = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": TARGET, "Host": host}
    request = AWSRequest("POST", house.url + "/", data=body, headers=names)
    SigV4Auth(
        Credentials(house.key.access_key_id, house.key.secret_access_key), "mturk-requester", "us-east-1"
    ).add_auth(request)
    return post(house, {name: str(value) for name, value in request.prepare().headers.items()}, body)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "127.0.0.1", "work.example.org",
             "Work.Example.Org:443", "other.example.org:8443", "lab:8000"]
)  # fmt: skip
def test_requests_for_the_public_address_and_for_this_machine_are_taken(make_house, host) -> None:
    house = make_house(public_origin="https://work.example.org", hosts=["other.example.org:8443", "lab:8000"])
    assert as_host(house, host)[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "elsewhere.example.org", "work.example.org.evil.org", "work.example.org:8443", "other.example.org", "lab",
        "localhost.evil.org", "127.0.0.1.evil.org", "mturk-requester.us-east-1.amazonaws.com", "128.0.0.1", "[::2]",
        "user@localhost", "localhost:99999999",
    ],
)  # fmt: skip
def test_a_request_for_another_host_is_refused_and_told_which_are_taken(make_house, host) -> None:
    house = make_house(public_origin="https://work.example.org", hosts=["other.example.org:8443", "lab:8000"])
    status, document = as_host(house, host)
    assert (status, document["__type"]) == (403, "InvalidSignatureException")
    taken = "lab:8000, other.example.org:8443, work.example.org, localhost, 127.0.0.1"
    assert f"takes requests for {taken}; use one of them in endpoint_url" in document["Message"]


def test_boto_works_by_each_name_of_this_machine_and_through_a_proxy(make_house) -> None:
    house = make_house(public_origin="https://work.example.org")
    for name in ("127.0.0.1", "localhost"):
        assert boto(house.url.replace("127.0.0.1", name), house.key).get_account_balance()["AvailableBalance"]

    # A proxy hands the request on with the host that it was signed for.
    def through_a_proxy(request, **_kwargs):
        request.url = house.url + "/"
        request.headers["Host"] = "work.example.org"

    client = boto("https://work.example.org", house.key)
    client.meta.events.register("before-send.mturk.*", through_a_proxy)
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"


def test_wrong_signatures_are_put_off_and_right_ones_never(make_house) -> None:
    house = make_house(wrong_keys_per_minute=3)
    wrong = Key(house.key.access_key_id, "x" * 40)
    assert [post(house, signed(house, key=wrong))[0] for _ in range(5)] == [403] * 3 + [429] * 2
    assert post(house, signed(house, key=wrong))[1]["__type"] == "ThrottlingException"
    assert post(house, signed(house))[0] == 200
