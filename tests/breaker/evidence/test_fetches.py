"""A resource that is fetched in many spellings is one action to the adaptive rules."""

from __future__ import annotations

import pytest

from breaker import Call, Engine, Result, Settled
from breaker.evidence.fetches import fetched
from breaker.identity.identify import Identifier
from breaker.settings import preset

SPELLINGS = [
    "curl --max-time 60 -o /tmp/p.json https://open-data.canada.ca/d",
    "curl -sSL -o /tmp/p.json https://open.canada.ca/d/",
    "timeout 45 curl -k --output /tmp/p.json 'https://www.open.canada.ca/d'",
    "wget -q -O /tmp/p.json https://open.canada.ca:443/d",
    "curl -s -A 'Mozilla/5.0' http://open.canada.ca/d > /tmp/p.json",
    "curl -s https://open.canada.ca/d?utm_source=agent | tee /tmp/p.json",
]
IDENTIFIER = Identifier(preset())


def request(command: str) -> str:
    return fetched(IDENTIFIER.identify("bash", {"command": command}))


def test_spellings_of_one_fetch_are_one_request() -> None:
    assert {request(command) for command in SPELLINGS} == {"net:open.canada.ca/d sink:/tmp/p.json"}


@pytest.mark.parametrize(
    "command",
    [
        "curl -s https://a.example/x | jq .name",  # another look at it
        "curl https://a.example/$ID",
        "for i in 1 2; do curl https://a.example/x?i=$i; done",
        "make && curl https://a.example/x",
        "ls",
    ],
)
def test_a_command_that_does_more_is_known_by_its_own_words(command: str) -> None:
    assert request(command) == ""


def test_two_bodies_are_two_requests() -> None:
    assert request("curl -d '{\"q\":1}' https://a.example/g") != request("curl -d '{\"q\":2}' https://a.example/g")


def test_a_fetch_that_says_the_same_in_every_spelling_is_stopped() -> None:
    engine = Engine(preset())
    verdicts = []
    for number, command in enumerate(SPELLINGS):
        call = Call("main", "bash", {"command": command}, str(number), step=str(number), can_ask=False)
        verdicts.append(engine.guard(call).decision)
        if verdicts[-1] == "allow":
            engine.settle(Settled("main", Result(content="", value={"exitCode": 0}), str(number)))
    assert verdicts == ["allow"] * 4 + ["deny"] * 2
