"""Attacks on what the MTurk doors show and to whom: frames, guarded HITs, gold, leaked links, other hosts."""

from __future__ import annotations

from functools import partial
from typing import Any

from hmc_crowd_mturk._questions import page_of

from hmc_crowd.platform import Hit, HitItem
from tests.attacks import attack, refused
from tests.attacks._mturk import ANN, BOB, EVE, EXTERNAL, FORM, NAMESPACES, TARGET, MTurkScene, html_question, mturk

at = partial(attack, "MTurk worker pages", scene=mturk)
api = partial(attack, "MTurk API", scene=mturk)
EVIL = "https://evil.example.org"


# A page is never built with what a request says.

INJECTED = {
    "a group of the expression": r"\1",
    "the whole match": r"\g<0>",
    "octal escapes that become a form": r"\042\076\074form action=\042https://evil.example.org\042\076\074input\076",
    "octal escapes that become a script": r"\074script src=//evil.example.org\076\074/script\076",
    "an escape that is none": r"\x3cform\x3e",
    "a backslash at the end": "A\\",
    "markup": f'"><form action="{EVIL}"><input name="key">',
    "a NUL": "A1\x00",
    "an id in small letters": "a1b2c3",
    "65 letters": "A" * 65,
    "the preview's name in other letters": "assignment_id_not_available",
    "an id of nobody": "3NOBODYSASSIGNMENT",
}  # fmt: skip


def inject(scene: MTurkScene, sent: str) -> None:
    reply = scene.client.get("/mturk/content", params={"hitId": scene.ids.hit, "assignmentId": sent})
    refused(reply)
    assert "Is it polite?" not in reply.text
    assert "<form" not in reply.text
    assert "evil.example.org><" not in reply.text


for name, sent in INJECTED.items():
    at(f"an assignmentId that is {name}", defence="a page is put together from pieces; ids are checked")(
        partial(inject, sent=sent)
    )


@at("the frame of another's HIT under an assignment of one's own choice", defence="an assignment is of one HIT")
def _(scene: MTurkScene) -> None:
    for hit, assignment in ((scene.ids.bobs_hit, scene.ids.ann), (scene.ids.guarded, scene.ids.ann)):
        refused(scene.client.get("/mturk/content", params={"hitId": hit, "assignmentId": assignment}))


@at("the frame of work that was handed in", defence="a frame is for what can be handed in")
def _(scene: MTurkScene) -> None:
    refused(scene.client.get("/mturk/content", params={"hitId": scene.ids.bobs_hit, "assignmentId": scene.ids.done}))


@at("a frame under another worker's id", defence="an assignment is its worker's")
def _(scene: MTurkScene) -> None:
    asked = {"hitId": scene.ids.hit, "assignmentId": scene.ids.ann}
    for worker in (BOB, EVE, "A1\x00", "<b>"):
        refused(scene.client.get("/mturk/content", params={**asked, "workerId": worker}))


# Guarded and deleted HITs.


def group_of(scene: MTurkScene, hit_id: str, member: str) -> str:
    return str(scene.door.call("main", "GetHIT", {"HITId": hit_id})["HIT"][member])


def look(scene: MTurkScene, hit: str, way: str) -> None:
    hit_id = getattr(scene.ids, hit)
    group, kind = (group_of(scene, hit_id, each) for each in ("HITGroupId", "HITTypeId"))
    other = scene.workers.preview_pass(scene.ids.hit)
    asked: dict[str, tuple[str, dict[str, str]]] = {
        "previewed by its id": ("preview", {"hitId": hit_id}),
        "previewed by its group": ("preview", {"groupId": group}),
        "previewed by its type": ("preview", {"groupId": kind}),
        "previewed by a worker's link": ("preview", {"hitId": hit_id, **scene.who()}),
        "accepted by a worker's link": ("accept", {"hitId": hit_id, **scene.who()}),
        "read in its frame": ("content", {"hitId": hit_id}),
        "read in its frame as a preview": ("content", {"hitId": hit_id, "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}),
        "read in its frame under another's id": ("content", {"hitId": hit_id, "workerId": ANN}),
        "read with the pass of another HIT": ("content", {"hitId": hit_id, "pass": other}),
        "read with a pass of one's own": ("content", {"hitId": hit_id, "pass": f"99999999999.{'0' * 32}"}),
        "read with a pass that is none": ("content", {"hitId": hit_id, "pass": "²."}),
    }
    path, query = asked[way]
    refused(scene.client.get(f"/mturk/{path}", params=query))


WAYS = (
    "previewed by its id", "previewed by its group", "previewed by its type", "previewed by a worker's link",
    "accepted by a worker's link", "read in its frame", "read in its frame as a preview",
    "read in its frame under another's id", "read with the pass of another HIT", "read with a pass of one's own",
    "read with a pass that is none",
)  # fmt: skip
for hit in ("guarded", "deleted"):
    for way in WAYS:
        at(f"a {hit} HIT {way}", defence=f"what is {hit} is not shown")(partial(look, hit=hit, way=way))


@at("a guarded HIT with a pass whose time is over", defence="a pass ends after some minutes")
def _(scene: MTurkScene) -> None:
    given = scene.workers.preview_pass(scene.ids.guarded)
    until, mark = given.split(".")
    late = f"{int(until) - 10_000}.{mark}"
    refused(scene.client.get("/mturk/content", params={"hitId": scene.ids.guarded, "pass": late}))


@at("HITs looked for by what their requester noted", defence="a HIT is found by id alone")
def _(scene: MTurkScene) -> None:
    for noted in ("batch 1", "gone", "batch%", "_atch 1"):
        for name in ("annotation", "groupId", "hitId"):
            refused(scene.client.get("/mturk/preview", params={name: noted}))


# Gold.


@at("gold told from the names of form fields", defence="a field's name is a number")
def _(scene: MTurkScene) -> None:
    def page(item: str, aspect: str, group: str) -> str:
        asked = HitItem(item, aspect, group, 1, "Hello.", labels=("yes", "no"), question="Is it so?")
        return page_of(Hit("K", "Judge", "Read.", (asked,), 1, 5, "USD"), submit_to="/")

    assert scene.ids.hit
    assert page("g3", "gold", "golds") == page("d1.2", "label", "d1")


# A page that freezes the server, asked for without a link.


@at("a HIT of 4,500 fields shown again and again", defence="a page is read once", stores="Eve makes a HIT of her own")
def _(scene: MTurkScene) -> None:
    values = {
        "Title": "t", "Description": "d", "Reward": "0.01", "AssignmentDurationInSeconds": 60, "LifetimeInSeconds": 600,
        "Question": html_question("<input name=q " * 4_500),
    }  # fmt: skip
    made = scene.door.call("eve", "CreateHIT", values)["HIT"]["HITId"]
    before = scene.door.shown.cache_info().misses
    for _n in range(3):
        assert scene.client.get("/mturk/content", params={"hitId": made}).status_code == 200
    assert scene.door.shown.cache_info().misses == before + 1


# Leaked links.


def leaked(scene: MTurkScene, path: str) -> None:
    old = scene.who(ANN)
    assert scene.honest.get("/mturk/hits", params=old).status_code == 200
    scene.door.issue_worker_key(ANN, is_new=True)
    asked = {
        **old,
        "assignmentId": scene.ids.ann,
        "hitId": scene.ids.hit,
        "qualificationTypeId": scene.ids.qualification,
    }
    if path in {"return", "test"}:
        refused(scene.client.post(f"/mturk/{path}", data=asked))
    elif path in {"events", "draft to be kept"}:
        refused(scene.client.post(f"/mturk/{path.split()[0]}", json={**asked, "events": [], "fields": []}))
    else:
        refused(scene.client.get(f"/mturk/{path}", params=asked))


for path in ("hits", "preview", "accept", "draft", "qualification", "return", "test", "events", "draft to be kept"):
    at(
        f"a link that was replaced, used for {path}",
        defence="of a worker's keys one works",
        stores="the owner makes a new link",
    )(partial(leaked, path=path))


@at("a link that was taken back", defence="a key can be taken back", stores="the owner takes it back")
def _(scene: MTurkScene) -> None:
    old = scene.who(EVE)
    scene.door.revoke_worker_key(EVE)
    refused(scene.client.get("/mturk/hits", params=old))


@at("a key in letters that no key has", defence="keys are compared as bytes")
def _(scene: MTurkScene) -> None:
    for key in ("ключ", "é" * 32, "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "\x00"):
        refused(scene.client.get("/mturk/hits", params={"workerId": ANN, "key": key}))


# Bodies that are none.

BODIES: dict[str, Any] = {
    "no list of fields": {"fields": 1}, "an object of fields": {"fields": {"a": "b"}}, "no fields": {"fields": None},
    "numbers as fields": {"fields": [1, None]}, "a field of three": {"fields": [["a", "b", "c"]]},
    "a field that is a number": {"fields": [["a", 1]]}, "10,001 fields": {"fields": [["a", "b"]] * 10_001},
}  # fmt: skip
for what, change in BODIES.items():

    def draft(scene: MTurkScene, change: Any) -> None:
        refused(scene.client.post("/mturk/draft", json={**scene.who(ANN), "assignmentId": scene.ids.ann, **change}))

    at(f"a draft with {what}", defence="a draft is a list of names and values")(partial(draft, change=change))


# The API: signed for another server.

HOSTS = (
    "elsewhere.example.org", "testserver.evil.org", "localhost.evil.org", "127.0.0.1.evil.org", "testserver:8443",
    "mturk-requester.us-east-1.amazonaws.com", "user@localhost", "128.0.0.1",
)  # fmt: skip


def to_host(scene: MTurkScene, host: str) -> None:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    headers = {"X-Amz-Target": f"{TARGET}GetAccountBalance", "Content-Type": "application/x-amz-json-1.1", "Host": host}
    asked = AWSRequest("POST", "http://testserver/", headers=headers, data=b"{}")
    SigV4Auth(Credentials(*scene.ids.key), "mturk-requester", "us-east-1").add_auth(asked)
    reply = scene.client.post("/", content=b"{}", headers=dict(asked.headers.items()))
    refused(reply)
    assert "AvailableBalance" not in reply.text


for host in HOSTS:
    api(f"a request signed for {host}", defence="the host is part of what is taken")(partial(to_host, host=host))


# The API: values that nobody can mean.


def key(points: str, mapping: str) -> str:
    return (
        f'<AnswerKey xmlns="{NAMESPACES}2005-10-01/AnswerKey.xsd"><Question><QuestionIdentifier>q1</QuestionIdentifier>'
        f"<AnswerOption><SelectionIdentifier>a</SelectionIdentifier><AnswerScore>{points}</AnswerScore></AnswerOption>"
        f"</Question>{mapping}</AnswerKey>"
    )


def scale(number: str) -> str:
    inside = f"<ScaleMapping><SummedScoreMultiplier>{number}</SummedScoreMultiplier></ScaleMapping>"
    return f"<QualificationValueMapping>{inside}</QualificationValueMapping>"


HIT = {
    "Title": "t", "Description": "d", "Reward": "0.01", "AssignmentDurationInSeconds": 60, "LifetimeInSeconds": 600,
    "Question": html_question("<p>x</p>"),
}  # fmt: skip
TYPE = {"Name": "n", "Description": "d", "QualificationTypeStatus": "Active"}
TEST = {**TYPE, "Test": FORM, "TestDurationInSeconds": 60}
HOOK = {"Transport": "SQS", "Version": "2014-08-15", "EventTypes": ["Ping"]}
POLICY = {"PolicyName": "ScoreMyKnownAnswers/2011-09-01", "Parameters": [{"Key": "AnswerKey", "MapEntries": [{}]}]}
ODD: dict[str, tuple[str, dict[str, Any]]] = {
    "a frame as high as ²": ("CreateHIT", {**HIT, "Question": HIT["Question"].replace(">450<", ">²<")}),
    "a frame as high as 99999": ("CreateHIT", {**HIT, "Question": HIT["Question"].replace(">450<", ">99999<")}),
    "a frame of 5,000 digits": ("CreateHIT", {**HIT, "Question": HIT["Question"].replace(">450<", f">{'9' * 5000}<")}),
    "a page at https://[": ("CreateHIT", {**HIT, "Question": EXTERNAL.replace("survey.example.org", "[")}),
    "a reward of 99999999": ("CreateHIT", {**HIT, "Reward": "99999999"}),
    "a reward of 30 digits": ("CreateHIT", {**HIT, "Reward": "9" * 30}),
    "a reward of 5,000 digits": ("CreateHITType", {**HIT, "Reward": "9" * 5000}),
    "half a character": ("CreateHIT", {**HIT, "Title": "a\ud800"}),
    "half a character in a token": ("CreateHIT", {**HIT, "UniqueRequestToken": "a\udfff"}),
    "a known answer without a key": ("CreateHIT", {**HIT, "AssignmentReviewPolicy": POLICY}),
    "a key with a scale of NaN": ("CreateQualificationType", {**TEST, "AnswerKey": key("1", scale("NaN"))}),
    "a key with a scale of sNaN": ("CreateQualificationType", {**TEST, "AnswerKey": key("1", scale("sNaN"))}),
    "a key with an endless scale": ("CreateQualificationType", {**TEST, "AnswerKey": key("1", scale("Infinity"))}),
    "a key with a scale of 1e9999": ("CreateQualificationType", {**TEST, "AnswerKey": key("1", scale("1e9999"))}),
    "a key with a score of 4,000 digits": ("CreateQualificationType", {**TEST, "AnswerKey": key("9" * 4000, "")}),
    "a test of 2**62 seconds": ("CreateQualificationType", {**TEST, "TestDurationInSeconds": 2**62}),
    "a pause of 2**62 seconds": ("CreateQualificationType", {**TYPE, "RetryDelayInSeconds": 2**62}),
    "a query of 60,000 letters": ("ListQualificationTypes", {"Query": "x" * 60_000, "MustBeRequestable": False}),
    "events to http://[": (
        "SendTestEventNotification",
        {"Notification": {**HOOK, "Destination": "http://["}, "TestEventType": "Ping"},
    ),
    "a bonus of 5,000 digits": (
        "SendBonus",
        {"WorkerId": ANN, "AssignmentId": "X", "BonusAmount": "9" * 5000, "Reason": "r"},
    ),
}  # fmt: skip
for what, (operation, body) in ODD.items():

    def ask(scene: MTurkScene, operation: str, body: Any) -> None:
        reply = scene.call(operation, body)
        refused(reply)
        assert reply.json()["__type"] != "ServiceFault"

    api(f"{operation} with {what}", defence="refused in the service's words")(
        partial(ask, operation=operation, body=body)
    )
