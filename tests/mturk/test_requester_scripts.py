"""Requester scripts as they are found in the wild run when their endpoint_url is changed, and nothing else.

Each script is a text of its own that knows nothing of this package; the crowd works between its halves.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape

import pytest
from mturk_house import NAMESPACES

HEAD = """
import sys, json, datetime
from xml.dom.minidom import parseString
import boto3
endpoint_url = sys.argv[1]
client = boto3.client("mturk", region_name="us-east-1", endpoint_url=endpoint_url)
"""


@pytest.fixture
def run(house, monkeypatch):
    """Run a script with nothing but the address; return what it prints, as JSON."""

    def go(script: str, *arguments: str):
        environment = {
            "AWS_ACCESS_KEY_ID": house.key.access_key_id,
            "AWS_SECRET_ACCESS_KEY": house.key.secret_access_key,
            "PATH": "",
            "HOME": "/nonexistent",
        }
        done = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-c", HEAD + script, house.url, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return go


HTML_FORM = '''
html = """<!DOCTYPE html><html><head><meta http-equiv='Content-Type' content='text/html; charset=UTF-8'/>
<script type='text/javascript' src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js'></script></head><body>
<form name='mturk_form' method='post' id='mturk_form' action='https://www.mturk.com/mturk/externalSubmit'>
<input type='hidden' value='' name='assignmentId' id='assignmentId'/>
<p>Is this reply rude?</p><textarea name='comment'></textarea>
<input type='checkbox' name='why' value='tone'/><input type='checkbox' name='why' value='words'/>
<p><input type='submit' id='submitButton' value='Submit'/></p></form>
<script language='Javascript'>turkSetAssignmentID();</script></body></html>"""
question = ('<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd">'
            '<HTMLContent><![CDATA[' + html + ']]></HTMLContent><FrameHeight>450</FrameHeight></HTMLQuestion>')
balance = client.get_account_balance()["AvailableBalance"]
hit = client.create_hit(Title="Judge a reply", Description="Read it and judge it", Keywords="text, quick",
    Reward="0.15", MaxAssignments=3, LifetimeInSeconds=172800, AssignmentDurationInSeconds=600,
    AutoApprovalDelayInSeconds=14400, Question=question)
print(json.dumps({"hit": hit["HIT"]["HITId"], "group": hit["HIT"]["HITGroupId"], "balance": balance}))
'''
HTML_RESULTS = """
found = []
for assignment in client.list_assignments_for_hit(HITId=sys.argv[2], AssignmentStatuses=["Submitted"])["Assignments"]:
    document = parseString(assignment["Answer"])
    for answer in document.getElementsByTagName("Answer"):
        name = answer.getElementsByTagName("QuestionIdentifier")[0].childNodes[0].nodeValue
        text = answer.getElementsByTagName("FreeText")[0].childNodes[0].nodeValue
        found.append([assignment["WorkerId"], name, text])
print(json.dumps(found))
"""


def test_html_form(house, run) -> None:
    made = run(HTML_FORM)
    assert made["balance"] == "10000.00"
    frame = house.page("GET", f"/mturk/accept?groupId={made['group']}&workerId=AWORKER1")
    address = unescape(re.search(r'<iframe[^>]* src="([^"]+)"', frame.text)[1])
    page = house.page("GET", address)
    assert "mturk.com" not in page.text
    assert "s3.amazonaws.com" not in page.text
    script = re.search(r"src='([^']+externalHIT_v1.js)'", page.text)[1]
    assert "turkSetAssignmentID" in house.page("GET", script).text
    action = re.search(r"action='([^']+)'", page.text)[1]
    assignment = re.search(r'name="assignmentId" id="assignmentId" value="([A-Z0-9]+)"', page.text)[1]
    text = "It is <b>rude</b> & short \U0001f600"
    fields = {"assignmentId": assignment, "comment": text, "why": ["tone", "words"]}
    sent = house.page("POST", action, data=fields)
    assert sent.status_code == 200
    assert run(HTML_RESULTS, made["hit"]) == [
        ["AWORKER1", "comment", text],
        ["AWORKER1", "why", "tone|words"],
    ]


CROWD_FORM = '''
html = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form><crowd-classifier name="tone" categories="['rude', 'fine']" header="Tone?">
<classification-target>Go away.</classification-target><short-instructions>Choose.</short-instructions>
</crowd-classifier></crowd-form>"""
question = ('<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd">'
            '<HTMLContent><![CDATA[' + html + ']]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>')
hit = client.create_hit(Title="Tone", Description="Choose a tone", Reward="0.05", LifetimeInSeconds=3600,
    AssignmentDurationInSeconds=600, Question=question)["HIT"]
print(json.dumps({"hit": hit["HITId"]}))
'''
CROWD_RESULTS = """
answer = client.list_assignments_for_hit(HITId=sys.argv[2])["Assignments"][0]["Answer"]
text = parseString(answer).getElementsByTagName("FreeText")[0].childNodes[0].nodeValue
print(json.dumps(json.loads(text)[0]))
"""


def test_crowd_form(house, run) -> None:
    hit_id = run(CROWD_FORM)["hit"]
    work = house.workers.accept(hit_id, "A1")
    page = house.page("GET", f"/mturk/content?hitId={hit_id}&assignmentId={work.assignment_id}")
    script = re.search(r'src="([^"]+crowd\.js)"', page.text)[1]
    assert "customElements.define" in house.page("GET", script).text
    # What the element sends: one field with a list of one object.
    fields = {"assignmentId": work.assignment_id, "taskAnswers": json.dumps([{"tone": {"label": "rude"}}])}
    assert house.page("POST", "/mturk/externalSubmit", data=fields).status_code == 200
    assert run(CROWD_RESULTS, hit_id) == {"tone": {"label": "rude"}}


EXTERNAL_SCRIPT = """
question = '''<?xml version="1.0" encoding="UTF-8"?>
<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">
  <ExternalURL>https://lab.example.org/study?condition=a&amp;wave=2</ExternalURL>
  <FrameHeight>0</FrameHeight>
</ExternalQuestion>'''
requirements = [
    {"QualificationTypeId": "00000000000000000071", "Comparator": "In",
     "LocaleValues": [{"Country": "US"}, {"Country": "NL"}]},
    {"QualificationTypeId": "000000000000000000L0", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [95],
     "RequiredToPreview": True},
]
kind = client.create_hit_type(Title="A study", Description="Ten minutes", Reward="1.50",
    AssignmentDurationInSeconds=3600, AutoApprovalDelayInSeconds=86400,
    QualificationRequirements=requirements)["HITTypeId"]
hit = client.create_hit_with_hit_type(HITTypeId=kind, MaxAssignments=2, LifetimeInSeconds=86400, Question=question,
    UniqueRequestToken="wave-2", RequesterAnnotation="wave 2")["HIT"]
print(json.dumps({"hit": hit["HITId"], "type": kind}))
"""
EXTERNAL_END = """
hit_id = sys.argv[2]
hit = client.get_hit(HITId=hit_id)["HIT"]
client.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime.datetime(2015, 1, 1))
status = client.get_hit(HITId=hit_id)["HIT"]["HITStatus"]
pages = client.get_paginator("list_assignments_for_hit").paginate(HITId=hit_id)
answers = [each["Answer"] for page in pages for each in page["Assignments"]]
names = [node.childNodes[0].nodeValue for node in parseString(answers[0]).getElementsByTagName("QuestionIdentifier")]
print(json.dumps({"available": hit["NumberOfAssignmentsAvailable"], "status": status, "names": names}))
"""


def test_external_question(house, run) -> None:
    made = run(EXTERNAL_SCRIPT)
    refused = house.page("GET", f"/mturk/accept?hitId={made['hit']}&workerId=AABROAD")
    assert refused.status_code == 409
    house.door.set_worker("AHERE", country="NL")
    frame = house.page("GET", f"/mturk/accept?hitId={made['hit']}&workerId=AHERE")
    address = unescape(re.search(r'<iframe[^>]* src="([^"]+)"', frame.text)[1])
    assert address.startswith("https://lab.example.org/study?condition=a&wave=2&assignmentId=")
    parameters = dict(part.split("=") for part in address.partition("?")[2].split("&"))
    assert (parameters["workerId"], parameters["hitId"]) == ("AHERE", made["hit"])
    fields = {"assignmentId": parameters["assignmentId"], "workerId": "AHERE", "score": "7"}
    assert house.page("POST", "/mturk/externalSubmit", data=fields).status_code == 200
    assert run(EXTERNAL_END, made["hit"]) == {"available": 1, "status": "Reviewable", "names": ["workerId", "score"]}


LAYOUT = """
hit = client.create_hit(Title="Compare", Description="Compare two", Reward="0.10", LifetimeInSeconds=3600,
    AssignmentDurationInSeconds=600, HITLayoutId=sys.argv[2],
    HITLayoutParameters=[{"Name": "left", "Value": "AT&amp;T"}, {"Name": "right", "Value": "B"}])["HIT"]
print(json.dumps({"hit": hit["HITId"], "layout": hit["HITLayoutId"]}))
"""


def test_layout(house, run) -> None:
    layout = house.door.add_layout("<form method=post><p>${left} or ${right}?</p><input name='choice'/></form>")
    made = run(LAYOUT, layout)
    assert made["layout"] == layout
    page = house.page("GET", f"/mturk/content?hitId={made['hit']}")
    assert "<p>AT&amp;T or B?</p>" in page.text


QUALIFICATION = f'''
test = """<QuestionForm xmlns="{NAMESPACES}2005-10-01/QuestionForm.xsd">
<Overview><Title>A test</Title><Text>One question.</Text></Overview>
<Question><QuestionIdentifier>q1</QuestionIdentifier><DisplayName>First</DisplayName><IsRequired>true</IsRequired>
<QuestionContent><Text>Which is rude?</Text></QuestionContent><AnswerSpecification><SelectionAnswer>
<StyleSuggestion>radiobutton</StyleSuggestion><Selections>
<Selection><SelectionIdentifier>a</SelectionIdentifier><Text>Go away.</Text></Selection>
<Selection><SelectionIdentifier>b</SelectionIdentifier><Text>Good day.</Text></Selection>
</Selections></SelectionAnswer></AnswerSpecification></Question></QuestionForm>"""
key = """<AnswerKey xmlns="{NAMESPACES}2005-10-01/AnswerKey.xsd">
<Question><QuestionIdentifier>q1</QuestionIdentifier>
<AnswerOption><SelectionIdentifier>a</SelectionIdentifier><AnswerScore>4</AnswerScore></AnswerOption>
<AnswerOption><SelectionIdentifier>b</SelectionIdentifier><AnswerScore>1</AnswerScore></AnswerOption></Question>
<QualificationValueMapping><PercentageMapping><MaximumSummedScore>4</MaximumSummedScore></PercentageMapping>
</QualificationValueMapping></AnswerKey>"""
kind = client.create_qualification_type(Name="Tone test", Description="A short test", QualificationTypeStatus="Active",
    Test=test, AnswerKey=key, TestDurationInSeconds=300, RetryDelayInSeconds=60)
kind = kind["QualificationType"]["QualificationTypeId"]
question = """<ExternalQuestion xmlns="{NAMESPACES}2006-07-14/ExternalQuestion.xsd">
<ExternalURL>https://lab.example.org/</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"""
hit = client.create_hit(Title="Judge", Description="Judge", Reward="0.10", LifetimeInSeconds=3600,
    AssignmentDurationInSeconds=600, Question=question, QualificationRequirements=[dict(QualificationTypeId=kind,
    Comparator="GreaterThan", IntegerValues=[70], ActionsGuarded="DiscoverPreviewAndAccept")])["HIT"]
print(json.dumps(dict(type=kind, hit=hit["HITId"])))
'''
SCORES = """
found = client.list_workers_with_qualification_type(QualificationTypeId=sys.argv[2], Status="Granted")["Qualifications"]
print(json.dumps({each["WorkerId"]: each["IntegerValue"] for each in found}))
"""


def test_qualification_test(house, run) -> None:
    made = run(QUALIFICATION)
    for worker, choice in (("AGOOD", "a"), ("ABAD", "b")):
        page = house.page("GET", f"/mturk/qualification?qualificationTypeId={made['type']}&workerId={worker}")
        assert "Which is rude?" in page.text
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        assert house.page("POST", "/mturk/test", data={**hidden, "q1": choice}).status_code == 200
    # a: 4 of 4 points is 100; b: 1 of 4 is 25.
    assert run(SCORES, made["type"]) == {"AGOOD": 100, "ABAD": 25}
    assert "Judge" in house.page("GET", "/mturk/hits?workerId=AGOOD").text
    assert "no work for you" in house.page("GET", "/mturk/hits?workerId=ABAD").text
    assert house.page("GET", f"/mturk/accept?hitId={made['hit']}&workerId=ABAD").status_code == 409
    assert house.page("GET", f"/mturk/accept?hitId={made['hit']}&workerId=AGOOD").status_code == 200


APPROVE_AND_BONUS = """
from botocore.exceptions import ClientError
result = {"approved": [], "bonus": [], "errors": []}
token = {}
while True:
    page = client.list_hits(MaxResults=10, **token)
    for hit in page["HITs"]:
        for assignment in client.list_assignments_for_hit(HITId=hit["HITId"], MaxResults=100)["Assignments"]:
            name = assignment["AssignmentId"]
            if "yes" in assignment["Answer"]:
                client.approve_assignment(AssignmentId=name, RequesterFeedback="Thank you!")
                client.send_bonus(WorkerId=assignment["WorkerId"], AssignmentId=name, BonusAmount="0.25",
                    Reason="Careful work")
                result["approved"].append(name)
            else:
                client.reject_assignment(AssignmentId=name, RequesterFeedback="No answer was given.")
            try:
                client.approve_assignment(AssignmentId=name)
            except ClientError as error:
                result["errors"].append(error.response["Error"]["Code"])
        payments = client.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"]
        result["bonus"] += [each["BonusAmount"] for each in payments]
        try:
            client.delete_hit(HITId=hit["HITId"])
        except client.exceptions.RequestError as error:
            result["errors"].append(error.response["TurkErrorCode"])
    if "NextToken" not in page:
        break
    token = {"NextToken": page["NextToken"]}
result["left"] = [hit["HITId"] for hit in client.list_hits()["HITs"]]
result["balance"] = client.get_account_balance()["AvailableBalance"]
print(json.dumps(result))
"""


def test_approve_and_bonus_loop(house, run) -> None:
    full = house.hit(MaxAssignments=2)
    half = house.hit(MaxAssignments=2)
    good = [house.work(full, "A1", answer="yes"), house.work(half, "A1", answer="yes")]
    house.work(full, "A2", answer="")
    result = run(APPROVE_AND_BONUS)
    assert sorted(result["approved"]) == sorted(good)
    assert result["bonus"] == ["0.25", "0.25"]
    assert result["errors"].count("RequestError") == 3
    assert (result["left"], result["errors"].count("AWS.MechanicalTurk.InvalidHITState")) == ([half], 1)
    # 10000 - 2 * (0.05 + 0.01) - 2 * (0.25 + 0.05), and 0.06 is held for the place that is left.
    assert result["balance"] == "9999.22"
