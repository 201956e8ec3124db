import functools
import ipaddress
import socket
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from repos.errors import GitFetchFailed, InvalidRemote
from repos.gitstore import remote_url
from repos.gitstore.process import GitCall, GitFailed, run_git
from repos.gitstore.remote_url import check_remote, is_public, route_to
from tests.support.git_remote import GitRemote, git


def test_https_to_a_public_host_is_accepted():
    remote = check_remote("https://github.com/context4ai/context.git")

    assert (remote.scheme, remote.host, remote.port) == ("https", "github.com", 443)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "github.com/a/b",
        "git@github.com:a/b.git",
        "ext::sh -c id",
        "https::https://github.com/a/b",
        "--upload-pack=id",
        "-oProxyCommand=id",
        "ftp://example.org/a",
        "javascript:alert(1)",
        "https://",
        "https:///a/b",
        "https://github.com",
        "https://github.com/",
        "https://user:secret@github.com/a/b",
        "https://token@github.com/a/b",
        "https://@github.com/a/b",
        "https://github.com/a/b?x=1",
        "https://github.com/a/b#x",
        "https://github.com/a b",
        "https://github.com/a/../b",
        "https://github.com/a/%2e%2e/b",
        "https://github.com/a\\b",
        "https://github.com/a\nb",
        "https://github.com/a\x00b",
        "https://github.com/$(id)",
        "https://github.com/`id`",
        "https://github.com:99999/a",
        "https://-oProxyCommand=id/a",
        "https://exa mple.org/a",
        "https://example..org/a",
        "https://exämple.org/a",
        "https://[::g]/a",
        "https://" + "a" * 3000 + ".org/a",
        "http://github.com/a/b",
        "git://github.com/a/b",
        "ssh://git@github.com/a/b",
        "file:///etc",
        "file://host/etc",
        "https://localhost/a",
        "https://sub.localhost/a",
        "https://127.0.0.1/a",
        "https://127.1/a",
        "https://2130706433/a",
        "https://0x7f000001/a",
        "https://0x7f/a",
        "https://0177.0.0.1/a",
        "https://10.0.0.8/a",
        "https://169.254.169.254/latest",
        "https://168.63.129.16/machine",
        "https://100.100.100.200/latest",
        "https://[fd00:ec2::254]/latest",
        "https://[::1]/a",
        "https://[::ffff:10.0.0.1]/a",
        "https://[64:ff9b::a00:1]/a",
        "https://[2002:a00:1::]/a",
        "https://[fe80::1]/a",
        "https://0.0.0.0/a",
        "https://224.0.0.1/a",
        "https://build.internal/a",
    ],
)
def test_other_forms_schemes_and_hosts_are_refused(url):
    with pytest.raises(InvalidRemote) as refusal:
        check_remote(url)

    assert "secret" not in refusal.value.message


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9000/a.git",
        "https://10.0.0.8/a.git",
        "ssh://git@forge.corp/a.git",
        "git://forge.corp:9418/a.git",
        "http://[::1]:9000/a.git",
    ],
)
def test_what_the_operator_lists_is_accepted_and_needs_no_look_up(url, settings):
    settings.ALLOWED_REMOTES = [
        "http://127.0.0.1:9000",
        "https://10.0.0.8",
        "ssh://forge.corp",
        "git://forge.corp",
        "http://[::1]:9000",
    ]

    assert route_to(check_remote(url)).config == ()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9001/a.git",
        "https://127.0.0.1:9000/a.git",
        "http://127.0.0.2:9000/a.git",
        "http://127.0.0.1:9000@evil.example/a.git",
    ],
)
def test_an_entry_allows_exactly_its_scheme_host_and_port(url, settings):
    settings.ALLOWED_REMOTES = ["http://127.0.0.1:9000"]

    with pytest.raises(InvalidRemote):
        check_remote(url)


def test_a_password_is_refused_even_for_a_listed_ssh_host(settings):
    settings.ALLOWED_REMOTES = ["ssh://forge.corp"]

    with pytest.raises(InvalidRemote):
        check_remote("ssh://git:secret@forge.corp/a.git")


def test_file_is_accepted_only_below_the_local_directories(tmp_path, settings):
    inside, outside = tmp_path / "in side", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "leak").symlink_to(outside)
    settings.LOCAL_REMOTES = [inside.resolve()]

    route = route_to(check_remote((inside / "repo").as_uri()))

    assert route.protocols == "file"
    assert route.safe[0] == inside / "repo"
    for bad in (outside, inside / ".." / "out", inside / "leak" / "repo"):
        with pytest.raises(InvalidRemote):
            check_remote(f"file://{bad}".replace(" ", "%20"))


def test_the_checked_addresses_are_pinned(monkeypatch):
    answers(monkeypatch, "140.82.121.3", "2606:50c0:8000::153")

    route = route_to(check_remote("https://code.example/a.git"))

    assert route.config == (
        "http.curloptResolve=code.example:443:140.82.121.3,[2606:50c0:8000::153]",
    )


@pytest.mark.parametrize("private", ["10.1.2.3", "127.0.0.1", "169.254.169.254", "fd00::1"])
def test_a_name_with_a_private_address_is_refused_at_connect(private, monkeypatch):
    answers(monkeypatch, "140.82.121.3", private)

    with pytest.raises(InvalidRemote):
        route_to(check_remote("https://code.example/a.git"))


def test_git_connects_to_the_checked_address_whatever_the_name_means_then(monkeypatch, data_root):
    """The name exists in no name service: only the pin can have led Git to our socket."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        port = server.getsockname()[1]
        answers(monkeypatch, "127.0.0.1")
        monkeypatch.setattr(remote_url, "is_public", lambda address: True)
        route = route_to(check_remote(f"https://rebound.invalid:{port}/a.git"))
        monkeypatch.undo()
        refused: list[Exception] = []

        def ask() -> None:
            call = GitCall(timeout_s=20, config=route.config, protocols=route.protocols)
            try:
                run_git(None, "ls-remote", route.url, call=call)
            except GitFailed as exc:
                refused.append(exc)

        asking = threading.Thread(target=ask)
        asking.start()
        connection, _ = server.accept()
        hello = connection.recv(4096)
        connection.close()
        asking.join()
    assert b"rebound.invalid" in hello  # the name of the certificate that Git demands
    assert refused


def test_a_plain_http_remote_cannot_send_git_to_another_host(tmp_path, settings, data_root):
    """`objects/info/http-alternates` names another place for objects that are missing."""
    source = GitRemote(tmp_path / "web" / "a.git")
    commit = source.commit({"a": "1"})
    git(source.path, "update-server-info")
    (source.path / "objects" / commit[:2] / commit[2:]).unlink()
    handler = functools.partial(QuietHandler, directory=str(tmp_path / "web"))
    with (
        socket.create_server(("127.0.0.1", 0)) as elsewhere,
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
    ):
        there = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/a.git/objects"
        (source.path / "objects" / "info" / "http-alternates").write_text(there + "\n")
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        url = f"http://127.0.0.1:{server.server_port}/a.git"
        settings.ALLOWED_REMOTES = [url.removesuffix("/a.git")]
        route = route_to(check_remote(url))
        call = GitCall(timeout_s=20, config=route.config, protocols=route.protocols)
        run_git(None, "init", "--bare", "-q", str(tmp_path / "mirror"), call=GitCall(timeout_s=20))
        try:
            with pytest.raises(GitFailed) as failure:
                run_git(tmp_path / "mirror", "fetch", route.url, "main", call=call)
        finally:
            server.shutdown()
        elsewhere.setblocking(False)
        with pytest.raises(BlockingIOError):
            elsewhere.accept()
    assert "alternate" in failure.value.stderr  # it was read, and not followed


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        return


def test_a_literal_address_needs_no_pin():
    route = route_to(check_remote("https://[2606:50c0:8000::153]/a.git"))
    assert (route.config, route.protocols) == ((), "https")


def test_an_unknown_host_is_a_failed_fetch(monkeypatch):
    def unknown(*args, **kwargs):
        raise socket.gaierror("unknown")

    monkeypatch.setattr(remote_url.socket, "getaddrinfo", unknown)

    with pytest.raises(GitFetchFailed):
        route_to(check_remote("https://code.example/a.git"))


def test_public_means_globally_routable_unicast():
    assert is_public(ipaddress.ip_address("140.82.121.3"))
    assert not is_public(ipaddress.ip_address("2001:0:4136:e378:8000:63bf:3fff:fdd2"))


def answers(monkeypatch, *addresses: str) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, 443)) for text in addresses]
    monkeypatch.setattr(remote_url.socket, "getaddrinfo", lambda *args, **kwargs: found)
