"""The link "Open on code host": each kind of host spells it differently."""

import pytest

from repos.models import Repository
from repos.sources.web import page_base, page_of_file
from repos.usecases.manage_code_sources import SetCodeSources, set_code_sources
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.inputs import parse

pytestmark = pytest.mark.django_db

SHA = "a" * 40


@pytest.mark.parametrize(
    ("kind", "file", "directory"),
    [
        ("github", f"blob/{SHA}/a%20b/%23c.py", f"tree/{SHA}/a%20b/%23c.py"),
        ("gitlab", f"-/blob/{SHA}/a%20b/%23c.py", f"-/tree/{SHA}/a%20b/%23c.py"),
        ("gitea", f"src/commit/{SHA}/a%20b/%23c.py", f"src/commit/{SHA}/a%20b/%23c.py"),
        ("bitbucket", f"src/{SHA}/a%20b/%23c.py", f"src/{SHA}/a%20b/%23c.py"),
        ("git", None, None),
    ],
)
def test_the_address_of_a_file_at_its_code_host(kind, file, directory):
    row = {"id": "corp", "name": "Corp", "host": "git.example.org", "kind": kind}
    set_code_sources(OPERATOR, parse(SetCodeSources, {"revision": 0, "sources": [row]}))
    repo = Repository(name="here/app", remote_url="https://git.example.org/team/app.git")
    base = page_base(repo)
    for wanted, is_directory in ((file, False), (directory, True)):
        found = page_of_file(*base, SHA, "a b/#c.py", directory=is_directory)
        assert found == (f"https://git.example.org/team/app/{wanted}" if wanted else "")


def test_a_remote_elsewhere_has_no_link(tmp_path):
    for url in ("https://other.example/a/b.git", f"file://{tmp_path}/x", "http://127.0.0.1/a/b"):
        assert page_base(Repository(name="a/b", remote_url=url)) == ("", "")
