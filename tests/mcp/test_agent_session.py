"""A whole session of an agent: what it pinned stays, byte for byte, while syncs go on."""

import json

from repos.models import Repository
from repos.work import queue_sync
from tests.support.jobs import run_pending_jobs

REPO = "acme/tools"


def test_answers_at_a_pinned_commit_are_identical_while_the_branch_moves_on(rpc, make_repository):
    files = {f"src/m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(20)}
    _, remote = make_repository(REPO, files=files, window_count=100)
    base = remote.tip("main")
    remote.commit({"src/m3.py": "def f3():\n    return 33\n", "src/m4.py": None})
    sync()

    commit = rpc.data("resolve", repo=REPO)["commit"]
    pinned = {"repo": REPO, "revision": commit}
    calls = [
        ("search", {**pinned, "pattern": r"def f\d\b", "max_files": 4}),
        (
            "read_many",
            {**pinned, "files": [{"path": "src/m3.py"}, {"path": "src/m5.py", "start_line": 2}]},
        ),
        ("diff", {"repo": REPO, "base": base, "head": commit, "first": 10}),
        ("find", {**pinned, "query": "m1*.py"}),
        ("list", {**pinned, "path": "src", "first": 5}),
        ("blame", {**pinned, "path": "src/m3.py", "start_line": 1, "end_line": 2}),
        ("log", {**pinned, "path": "src/m3.py"}),
    ]
    before = [rpc.texts(name, **arguments) for name, arguments in calls]
    cursor = json.loads(before[0][0].split("NextCursor: ")[1].split("\n")[0])
    page = {**calls[0][1], "after": cursor}
    second_page = rpc.texts("search", **page)

    for number in range(60):  # an hour of a busy branch
        remote.commit({f"src/m{number % 20}.py": f"# rewritten {number}\n", "src/new.py": "x\n"})
        if number % 15 == 14:
            sync()
            assert [rpc.texts(name, **arguments) for name, arguments in calls] == before
            assert rpc.texts("search", **page) == second_page
    assert rpc.data("resolve", repo=REPO)["commit"] == remote.tip("main") != commit


def sync() -> None:
    queue_sync(Repository.objects.get(name=REPO))
    run_pending_jobs()
