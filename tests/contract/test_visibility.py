"""Every route, tool and page × every kind of caller × every kind of repository, against the
matrix in `visibility.txt`."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import transaction

from repos.models import Repository
from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.api import limits
from tests.contract.visibility import (
    CALLERS,
    COLUMNS,
    Caller,
    Section,
    ask,
    comparable,
    make_callers,
    make_people,
    make_repositories,
    name_of,
    read_matrix,
    requests_there_are,
    word_of,
)

MATRIX = read_matrix(Path(__file__).with_name("visibility.txt"))
# The normal run takes every tenth pair of request and caller, with all repositories; which pairs
# those are differs from request to request, so every request and every caller is in it.
STEP = 10


def test_every_route_and_tool_has_an_expectation():
    known = {request for section in MATRIX for request in section.requests}
    pages = {request.partition(" ")[2] for request in known}
    missing = [
        request
        for request in sorted(requests_there_are())
        if request not in known and not (request[0] == "*" and request[2:] in pages)
    ]
    assert not missing, f"tests/contract/visibility.txt has no section for {missing}"
    gone = {r for r in known if r.startswith("tool ")} - requests_there_are()
    assert not gone, f"tests/contract/visibility.txt names {sorted(gone)}, which are no more"


def test_the_matrix_is_whole():
    assert {request for _, request, _ in cells(STEP)} == {r for s in MATRIX for r in s.requests}
    assert {caller for _, _, caller in cells(STEP)} == set(CALLERS)
    for section in MATRIX:
        assert set(section.rows) == set(CALLERS), section.title
        assert section.columns in (["site"], list(COLUMNS)), section.title


@pytest.fixture
def callers(make_user, service_token, settings, data_root) -> Iterator[dict[str, Caller]]:
    settings.ANONYMOUS_PER_CLIENT = settings.ANONYMOUS_TOTAL = 0
    people = make_people(make_user)
    make_repositories(people)
    logging.disable(logging.ERROR)  # Django writes a line for every refusal
    yield make_callers(people, service_token)
    logging.disable(logging.NOTSET)


def cells(step: int) -> Iterator[tuple[Section, str, str]]:
    """Section, request and caller of every `step`-th pair."""
    requests = [(section, request) for section in MATRIX for request in section.requests]
    for row, (section, request) in enumerate(requests):
        for column, caller in enumerate(CALLERS):
            if (3 * row + column) % step == 0:
                yield section, request, caller


def compare(callers: dict[str, Caller], step: int) -> list[str]:
    """What differs from the matrix, in words."""
    wrong = []
    for section, request, name in cells(step):
        expected = section.rows[name]
        found = _asked(callers[name], section, request)
        if found != expected:
            wrong.append(f"{request} as {name}: {_differences(expected, found)}")
    return wrong


def _differences(expected: dict[str, str], found: dict[str, str]) -> str:
    return ", ".join(
        f"{column} is {word}, not {expected[column]}"
        for column, word in found.items()
        if word != expected[column]
    )


def _asked(caller: Caller, section: Section, request: str) -> dict[str, str]:
    """The words of one request and caller; nothing that it does remains."""
    if section.lists:
        text = _answer(caller, request, None).content.decode()
        return {column: "yes" if name_of(column) in text else "-" for column in COLUMNS}
    if section.columns == ["site"]:
        return {"site": word_of(_answer(caller, request, None))}
    answers = {column: _answer(caller, request, column) for column in COLUMNS}
    words = {column: word_of(answer) for column, answer in answers.items()}
    nothing = comparable(answers["absent"], "absent")
    for column, answer in answers.items():
        if words[column] == "none" and comparable(answer, column) != nothing:
            words[column] = "none, but told apart from an absent name"
    return words


def _answer(caller: Caller, request: str, column: str | None):
    limits.reset()
    with transaction.atomic():
        answer = ask(caller, request, column)
        transaction.set_rollback(True)
    return answer


@pytest.mark.django_db
def test_a_tenth_of_the_matrix(callers):
    assert compare(callers, STEP) == []


@pytest.mark.long
@pytest.mark.django_db
def test_the_whole_matrix(callers):
    assert compare(callers, 1) == []


@pytest.mark.django_db
def test_no_list_count_or_figure_changes_with_what_is_hidden(callers, make_user):
    """The same answers with three more private repositories of somebody else."""

    def answers() -> dict[tuple[str, str], tuple[int, str]]:
        return {
            (request, name): comparable(_answer(callers[name], request, None), "other")
            for section in MATRIX
            if section.lists or section.columns == ["site"]
            for request in section.requests
            for name in ("anonymous", "reader", "key-admin")
            if request not in LEFT_OUT
        }

    before = answers()
    for number in range(3):
        Repository.objects.create(
            name=f"matrix/ghost-{number}",
            remote_url="file:///nowhere",
            public_read=False,
            creator=make_user(f"ghost-{number}"),
            window_count=5,
        )
    after = answers()
    assert [key for key in before if before[key] != after[key]] == []


# What answers with something new each time, and what is long and the same for everyone.
LEFT_OUT = ("POST auth/api-keys", "POST connect", "GET v1/schema", "GET v1/docs")


@pytest.mark.django_db
def test_a_site_closed_to_anonymous_readers_serves_them_only_what_is_for_everyone(callers):
    SettingsSection.objects.create(name="access", values={"public_read": False})
    policy.forget()
    wrong = {}
    for section in MATRIX:
        for request in section.requests:
            column = None if section.lists or section.columns == ["site"] else "open"
            word = word_of(_answer(callers["anonymous"], request, column))
            if word != ("yes" if section.title == "everyone" else "sign"):
                wrong[request] = word
    assert wrong == {}
