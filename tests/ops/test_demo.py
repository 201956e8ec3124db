"""The newcomer's path: this very checkout is cloned, indexed, found and read."""

import shutil
import subprocess

from tests.ops.instance import ROOT, instance, until


def git(*args: str, cwd=ROOT) -> str:
    done = subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


def test_a_shallow_detached_checkout_is_searchable_and_readable_soon_after_the_start(tmp_path):
    checkout, data = tmp_path / "checkout", tmp_path / "data"
    data.mkdir()
    git("clone", "--quiet", "--depth=1", ROOT.as_uri(), str(checkout))
    git("checkout", "--quiet", "--detach", cwd=checkout)
    # What runs is the working tree; what is searched is its last commit.
    for name in filter(None, git("ls-files", "-z", "-co", "--exclude-standard").split("\0")):
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    commit = git("rev-parse", "HEAD", cwd=checkout).strip()

    with instance(data=data, checkout=checkout) as started:
        until("Ready", lambda: "Ready: search it at" in started.text())
        text = started.text()
        assert "local/source-graph  index" in text
        assert f"http://localhost:{started.port}/sourcegraph/?repo=local/source-graph" in text

        query = {"Pattern": "run_from_shell", "FixedStrings": True}
        status, found = started.ask("api/search?repo=local/source-graph", "POST", query)
        assert status == 200, found
        assert found["Meta"]["Commit"] == commit
        files = {row["FileName"]: row for row in found["Result"]["Files"]}
        line = files["manage.py"]["LineMatches"][0]["LineNumber"]

        where = {"Path": "manage.py", "StartLine": line, "EndLine": line}
        status, read = started.ask("v1/repo/read?repo=local/source-graph", "POST", where)
        assert status == 200, read
        assert read["Commit"] == commit
        assert "run_from_shell" in str(read)
