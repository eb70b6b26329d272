"""The files of the page: which are served, how, and where the bridge finds them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assertions import assert_problem
from harness import Bridge, Upstream
from harness.environment import BINARY, ROOT

PUBLIC = ROOT / "public"
UNREADABLE = 66
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page of the user's own."""
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("my own page")
    (folder / "assets" / "a.js").write_text("1")
    (folder / ".secret").write_text("secret")
    (tmp_path / "outside.txt").write_text("secret")
    return folder


@pytest.fixture
def lone_binary(tmp_path: Path) -> Path:
    """The program alone in `bin`, far from its repository."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return Path(shutil.copy(BINARY, folder / "wsbridge"))


def origin_of_page(bridge: Bridge) -> str:
    return next(record["from"] for record in bridge.records if record["message"] == "the page is loaded")


# What is served


def test_the_page_is_at_the_root(bridge: Bridge) -> None:
    response = bridge.get("/")
    assert response.status == 200
    assert response.body == (PUBLIC / "index.html").read_bytes()
    assert response.header("Content-Type") == TYPES[".html"]
    assert response.header("Cache-Control") == "no-cache"
    assert response.header("X-Content-Type-Options") == "nosniff"


def test_nothing_may_be_loaded_from_or_sent_elsewhere(bridge: Bridge) -> None:
    policy = bridge.get("/").header("Content-Security-Policy").split("; ")
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "worker-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not any("unsafe" in directive or "*" in directive for directive in policy)


def test_a_file_is_not_sent_again_to_who_has_it(bridge: Bridge) -> None:
    tag = bridge.get("/app.js").header("ETag")
    held = bridge.get("/app.js", {"If-None-Match": f'"other", {tag}'})
    assert (held.status, held.body, held.header("ETag")) == (304, b"", tag)
    assert bridge.get("/app.js", {"If-None-Match": '"other"'}).status == 200


def test_a_304_leaves_the_connection_usable(bridge: Bridge) -> None:
    client = bridge.client()
    tag = client.request("GET", "/app.js").header("ETag")
    assert client.request("GET", "/app.js", fields={"If-None-Match": tag}).status == 304
    assert client.request("GET", "/healthz").status == 200


def test_head_tells_the_length(bridge: Bridge) -> None:
    response = bridge.request("HEAD", "/app.css")
    assert (response.status, response.body) == (200, b"")
    assert int(response.header("Content-Length")) == (PUBLIC / "app.css").stat().st_size


def test_a_file_answers_no_other_method(bridge: Bridge) -> None:
    response = bridge.post("/app.js", b"x")
    assert_problem(response, 405, "method-not-allowed")
    assert response.header("Allow") == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize(
    "target",
    [
        "/../outside.txt",
        "/assets/../../outside.txt",
        "/%2e%2e/outside.txt",
        "/..%2foutside.txt",
        "/..%5coutside.txt",
        "//outside.txt",
        "/.secret",
        "/%2esecret",
        "/assets",
        "/assets/",
        "/assets%2fa.js",
        "/index.html/",
        "/index.html%00",
        "/added.txt",
    ],
)
def test_only_files_known_at_start_are_served(
    upstream: Upstream, start_bridge, page: Path, target: str
) -> None:
    bridge = start_bridge(upstream.url, "--public", str(page))
    (page / "added.txt").write_text("secret")
    response = bridge.get(target)
    assert response.status in (400, 404), response
    assert b"secret" not in response.body


# Who gets it


def test_the_page_needs_no_token(upstream: Upstream, start_bridge) -> None:
    bridge = start_bridge(upstream.url, environment={"WSBRIDGE_TOKEN": "s3cret"})
    for path in ("/", "/app.js", "/app.css"):
        assert bridge.get(path).status == 200
    assert bridge.get("/status").status == 401


def test_other_sites_may_link_to_the_page_and_no_more(bridge: Bridge) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert bridge.get("/", link).status == 200
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    assert_problem(bridge.get("/app.js", embedded), 403, "origin-not-allowed")


def test_another_host_name_gets_no_page(bridge: Bridge) -> None:
    assert_problem(bridge.get("/", {"Host": "evil.example"}), 421, "misdirected-host")


# Where it is found


def test_a_lone_binary_has_every_file_of_its_page(
    upstream: Upstream, start_bridge, lone_binary: Path
) -> None:
    bridge = start_bridge(upstream.url, binary=lone_binary, folder=lone_binary.parent)
    assert origin_of_page(bridge) == "built-in"
    files = sorted(file for file in PUBLIC.rglob("*") if file.is_file())
    assert files
    for file in files:
        response = bridge.get(f"/{file.relative_to(PUBLIC)}")
        assert response.body == file.read_bytes(), f"{file} is not built in as it is"
        assert response.header("Content-Type") == TYPES[file.suffix]


def test_the_page_beside_the_program_comes_before_the_one_inside(
    upstream: Upstream, start_bridge, lone_binary: Path, page: Path
) -> None:
    shutil.copytree(page, lone_binary.parents[1] / "share" / "wsbridge" / "public")
    bridge = start_bridge(upstream.url, binary=lone_binary, folder=lone_binary.parent)
    assert bridge.get("/").body == b"my own page"


def test_the_page_in_the_working_directory_comes_first(
    upstream: Upstream, start_bridge, page: Path, tmp_path: Path
) -> None:
    page.rename(tmp_path / "public")
    bridge = start_bridge(upstream.url, folder=tmp_path)
    assert bridge.get("/").body == b"my own page"
    assert origin_of_page(bridge) == "public"


def test_a_public_folder_that_is_no_page_is_passed_over_with_a_warning(
    upstream: Upstream, start_bridge, tmp_path: Path
) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "private.txt").write_text("x")
    bridge = start_bridge(upstream.url, folder=tmp_path)
    assert bridge.get("/private.txt").status == 404
    assert bridge.get("/").status == 200
    warning = next(record for record in bridge.records if record["level"] == "warning")
    assert "public has no index.html" in warning["reason"]


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_the_folder_can_be_chosen(upstream: Upstream, start_bridge, page: Path, how: str) -> None:
    if how == "flag":
        bridge = start_bridge(upstream.url, "--public", str(page))
    else:
        bridge = start_bridge(upstream.url, environment={"WSBRIDGE_PUBLIC": str(page)})
    assert bridge.get("/").body == b"my own page"
    assert bridge.get("/assets/a.js").body == b"1"
    assert bridge.get("/app.css").status == 404


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_chosen_folder_that_is_missing_ends_the_start(run_bridge, tmp_path: Path, command: str) -> None:
    missing = str(tmp_path / "missing")
    upstream = ["--upstream", "ws://127.0.0.1:1/"] if command == "serve" else []
    bridge = run_bridge(command, *upstream, "--listen", "127.0.0.1:0", "--public", missing)
    assert bridge.exit_code() == UNREADABLE
    assert bridge.out.text == ""
    assert f"{missing} does not exist" in bridge.err.text


def test_the_demo_tells_where_the_page_is(run_bridge) -> None:
    bridge = run_bridge("demo", "--listen", "127.0.0.1:0").listening()
    address = f"http://127.0.0.1:{bridge.address[1]}/ "
    bridge.out.until(lambda text: address in text or None, "the address of the page")
