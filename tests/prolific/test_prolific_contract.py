"""Our requests against Prolific's own OpenAPI document, where it is present; it is no part of the repository."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hmc_crowd_prolific import Bonus, ProlificClient, allow_group
from hmc_crowd_prolific._drafts import STUDY_LABELS, CodeAction, CompletionCode
from hmc_crowd_prolific._publishing import draft_for
from hmc_crowd_prolific._settings import StudySettings
from hmc_crowd_prolific._statuses import StudyStatus, SubmissionStatus
from hmc_crowd_prolific._submissions import REJECTION_CATEGORIES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def document(data_dir: Path) -> dict[str, Any]:
    path = data_dir / "prolific" / "openapi.yml"
    if not path.is_file():
        pytest.skip(f"no {path}: Prolific's document is not published with this project")
    yaml = pytest.importorskip("yaml")
    found: dict[str, Any] = yaml.load(
        path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    return found


class Contract:
    """The document, asked about single requests."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.paths = {
            path: re.compile("^" + re.sub(r"\{[^}]*\}", "[^/]+", path.removeprefix("/api/v1")) + "$")
            for path in document["paths"]
        }

    def operation(self, method: str, path: str) -> dict[str, Any]:
        # A fixed path wins over one with a placeholder.
        found = [
            each
            for each, rule in self.paths.items()
            if rule.match(path) and method.lower() in self.document["paths"][each]
        ]
        assert found, f"{method} {path} is not in the document"
        return self.document["paths"][min(found, key=lambda each: each.count("{"))][method.lower()]

    def errors(self, schema: dict[str, Any], value: Any) -> list[str]:
        jsonschema = pytest.importorskip("jsonschema")
        whole = {**schema, "components": self.document["components"]}
        validator = jsonschema.Draft202012Validator(whole)
        return [f"{'/'.join(map(str, each.path))}: {each.message[:200]}" for each in validator.iter_errors(value)]

    def check(self, request: httpx.Request) -> None:
        path = request.url.path.removeprefix("/api/v1")
        operation = self.operation(request.method, path)
        known = {each.get("name") for each in operation.get("parameters", [])}
        # The groups' filter is an object whose members are the query's names.
        known |= {"workspace_id"} if path == "/participant-groups/" else set()
        # The messages' time is written as the document's prose says.
        unknown = set(request.url.params) - known - ({"workspace_id"} if path.startswith("/hooks/") else set())
        assert not unknown, f"{request.method} {path}: the document knows no {sorted(unknown)}"
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if not request.content:
            assert not operation.get("requestBody", {}).get("required"), f"{request.method} {path} needs a body"
            return
        assert content, f"{request.method} {path} has no body in the document"
        assert self.errors(content["schema"], json.loads(request.content)) == []


@pytest.fixture(scope="module")
def contract(document) -> Contract:
    return Contract(document)


def draft(lab, **changes: Any):
    settings = StudySettings(
        project="p" * 24,
        study_url="https://crowd.example.org/arrive",
        devices=("desktop",),
        filters=(allow_group("g" * 24),),
        content_warnings=("sensitive",),
        content_warning_details="Insults.",
    )
    return draft_for(lab.order(**changes), settings, "content")


def test_a_study_of_ours_is_within_the_contract(lab, contract) -> None:
    schema = {"$ref": "#/components/schemas/CreateStudy"}
    assert contract.errors(schema, draft(lab).payload()) == []
    assert contract.errors(schema, {**draft(lab).payload(), "reward": "2.00"}) != []


def test_every_call_of_the_client_is_within_the_contract(lab, contract) -> None:
    study = lab.connect().recruit(lab.order(places=9)).hit_id
    names = [lab.submit(study, who) for who in ("ann", "bob", "cyd", "dan")]
    sent: list[str] = []

    def look(request: httpx.Request) -> httpx.Response:
        request.read()
        contract.check(request)
        sent.append(f"{request.method} {request.url.path}")
        return inner.handle_request(request)

    inner = httpx.HTTPTransport(verify=False)
    client = ProlificClient(
        f"{lab.standin.url}/api/v1/",
        token=lab.world.token,
        mode="stub",
        transport=httpx.MockTransport(look),
        pace=lab.pace(),
        clock=lab.clock,
    )
    _use_everything(lab, client, study, names)
    client.close()
    inner.close()
    assert len(set(sent)) >= 35


def _use_everything(lab, client: ProlificClient, study: str, names: list[str]) -> None:
    workspace = lab.world.workspace
    client.workspaces.all()
    client.workspaces.balance(workspace)
    client.workspaces.ensure_project(workspace, "Evaluation")
    project = next(iter(lab.world.projects))
    made = client.studies.create(draft_for(lab.order("k2"), _settings(project), "c"))
    client.studies.of_project(project)
    client.studies.cost(made.id)
    client.studies.estimate_minor(200, 5)
    client.studies.move(made.id, "PUBLISH")
    client.studies.set_places(made.id, 4)
    client.studies.move(made.id, "PAUSE")
    client.studies.move(made.id, "START")
    client.studies.move(made.id, "STOP")
    spare = client.studies.create(draft_for(lab.order("k3"), _settings(project), "c"))
    client.studies.delete_draft(spare.id)
    client.submissions.of_study(study)
    client.submissions.of_study(study, status=SubmissionStatus.AWAITING_REVIEW)
    client.submissions.request_return(names[0], ["No data."])
    client.submissions.approve(names[0])
    client.submissions.reject(names[1], message="x" * 100, category="LOW_EFFORT")
    client.submissions.bulk_approve(names[2:])
    setup = client.bonuses.set_up(study, [Bonus(names[0], 30)])
    client.bonuses.pay(setup.id)
    group = client.groups.ensure(workspace, "g")
    client.groups.sync(group.id, ["ann", "bob"])
    client.groups.sync(group.id, ["ann"])
    client.filter_ids()
    client.count_eligible([allow_group(group.id)], workspace=workspace)
    client.messages.send(["ann"], "Thank you.", study_id=study)
    client.messages.send(["ann", "bob"], "Thank you.", study_id=study)
    client.messages.since(lab.clock.now())
    client.hooks.event_types()
    client.hooks.new_secret(workspace)
    hook = client.hooks.subscribe(workspace, "study.status.change", "https://crowd.example.org/hook")
    client.hooks.subscriptions(workspace)
    client.hooks.deliveries(hook.id)
    client.hooks.unsubscribe(hook.id)


def _settings(project: str) -> StudySettings:
    return StudySettings(project=project, study_url="https://crowd.example.org/arrive")


@pytest.mark.parametrize(
    ("schema", "ours", "exactly"),
    [
        ("StudyStatus", [each.value for each in StudyStatus if each is not StudyStatus.UNKNOWN], True),
        ("SubmissionShortStatus", [each.value for each in SubmissionStatus], False),
        ("CreateStudyStudyLabelsItems", STUDY_LABELS, True),
    ],
)
def test_our_words_are_the_documents(document, schema, ours, exactly) -> None:
    theirs = set(document["components"]["schemas"][schema]["enum"])
    assert theirs == set(ours) if exactly else theirs <= set(ours)


def test_our_rejection_categories_are_the_documents(document) -> None:
    found = [
        set(each["enum"])
        for name, each in document["components"]["schemas"].items()
        if "ejection" in name and "enum" in each and "LOW_EFFORT" in each["enum"]
    ]
    assert found
    assert all(each == set(REJECTION_CATEGORIES) for each in found)


@pytest.mark.parametrize(
    "action",
    [
        CodeAction("AUTOMATICALLY_APPROVE"),
        CodeAction("ADD_TO_PARTICIPANT_GROUP", participant_group="g" * 24),
        CodeAction("REMOVE_FROM_PARTICIPANT_GROUP", participant_group="g" * 24),
        CodeAction("REQUEST_RETURN", return_reason="No consent."),
        CodeAction("FIXED_SCREEN_OUT_PAYMENT", fixed_screen_out_reward=20, slots=3),
    ],
)
def test_actions_of_completion_codes_are_within_the_contract(lab, contract, action) -> None:
    body = {**draft(lab).payload(), "completion_codes": [CompletionCode("ABC", actions=(action,)).payload()]}
    assert contract.errors({"$ref": "#/components/schemas/CreateStudy"}, body) == []


ANSWERS = [
    ("get", "/api/v1/studies/{id}/", "studies/{study}/"),
    ("get", "/api/v1/projects/{project_id}/studies/", "projects/{project}/studies/"),
    ("get", "/api/v1/studies/{id}/cost/", "studies/{study}/cost/"),
    ("get", "/api/v1/studies/{id}/submissions/", "studies/{study}/submissions/"),
    ("get", "/api/v1/studies/{id}/submissions/counts/", "studies/{study}/submissions/counts/"),
    ("get", "/api/v1/submissions/", "submissions/?study={study}"),
    ("get", "/api/v1/submissions/{id}/", "submissions/{submission}/"),
    ("get", "/api/v1/workspaces/", "workspaces/"),
    ("get", "/api/v1/workspaces/{workspace_id}/balance/", "workspaces/{workspace}/balance/"),
]


@pytest.mark.parametrize(("method", "path", "url"), ANSWERS, ids=[each[2] for each in ANSWERS])
def test_the_standins_answers_are_within_the_contract(lab, contract, method, path, url) -> None:
    platform = lab.connect()
    study = platform.recruit(lab.order()).hit_id
    name = lab.submit(study, "ann")
    project = next(iter(lab.world.projects))
    filled = url.format(study=study, submission=name, project=project, workspace=lab.world.workspace)
    operation = contract.document["paths"][path][method]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert contract.errors(schema, platform.client.http.get(filled)) == []
