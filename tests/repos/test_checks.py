from pathlib import Path

import pytest

from repos import checks


@pytest.mark.parametrize("entry", ["https://code.corp", "ssh://forge:2222", "http://[::1]:8000"])
def test_an_origin_is_accepted(settings, entry):
    settings.ALLOWED_REMOTES = [entry]

    assert list(checks.allowed_remotes()) == []


@pytest.mark.parametrize(
    "entry",
    ["code.corp", "ftp://code.corp", "https://", "https://code.corp/x", "https://u@code.corp"]
    + ["https://code.corp:99999", "https://code.corp?x=1"],
)
def test_anything_else_stops_the_start_with_its_name(settings, entry):
    settings.ALLOWED_REMOTES = [entry]

    [problem] = checks.allowed_remotes()

    assert problem.id == "repos.E001" and entry in problem.msg


def test_a_missing_local_directory_is_a_warning(settings, tmp_path):
    settings.LOCAL_REMOTES = [tmp_path, Path("/nonexistent")]

    assert [problem.id for problem in checks.local_remotes()] == ["repos.W001"]
