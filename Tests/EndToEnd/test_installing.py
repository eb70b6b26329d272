"""`make install` and `make uninstall`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness import Bridge, Upstream
from harness.environment import BINARY, ROOT, clean_environment
from harness.patience import PATIENCE


def make(target: str, *settings: str, binary: Path = BINARY) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", target, *settings],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=clean_environment(WSBRIDGE_BINARY=str(binary)),
        timeout=PATIENCE,
        check=False,
    )


def install(folder: Path, prefix: str = "/usr/local") -> Path:
    done = make("install", f"DESTDIR={folder}", f"PREFIX={prefix}")
    assert done.returncode == 0, done.stderr
    return folder / prefix.lstrip("/")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("machine"))


def test_everything_is_there(installed: Path) -> None:
    there = files(installed)
    assert {
        "bin/wsbridge",
        "share/man/man1/wsbridge.1",
        "share/bash-completion/completions/wsbridge",
        "share/zsh/site-functions/_wsbridge",
        "share/fish/vendor_completions.d/wsbridge.fish",
    } <= there
    for folder, place in {
        "config/presets": "share/wsbridge/presets",
        "public": "share/wsbridge/public",
        "config/proxies": "share/doc/wsbridge/proxies",
    }.items():
        assert {f"{place}/{name}" for name in files(ROOT / folder)} <= there
    units = {path.name for kind in ("service", "socket") for path in (ROOT / "config").glob(f"*.{kind}")}
    assert {f"lib/systemd/system/{name}" for name in units} <= there


def test_nothing_can_be_written_by_others(installed: Path) -> None:
    modes = {name: (installed / name).stat().st_mode & 0o7777 for name in files(installed)}
    assert modes.pop("bin/wsbridge") == 0o755
    assert set(modes.values()) == {0o644}


def test_the_program_finds_its_page_and_its_presets(tmp_path: Path, upstream: Upstream, start_bridge) -> None:
    place = install(tmp_path)
    (place / "share/wsbridge/public/index.html").write_text("the installed page")
    preset = place / "share/wsbridge/presets/json-rpc.yaml"
    preset.write_text(preset.read_text() + "subprotocols: [installed]\n")
    bridge = start_bridge(upstream.url, binary=place / "bin/wsbridge", folder=tmp_path)
    assert bridge.get("/").body == b"the installed page"
    check = Bridge("check", "--preset", "json-rpc", binary=place / "bin/wsbridge", folder=tmp_path)
    assert check.exit_code() == 0, check.err.text
    assert "subprotocols: [installed]" in check.out.text.replace('"', "")


def test_man_finds_the_page(installed: Path) -> None:
    command = ["man", "-M", str(installed / "share/man"), "-w", "wsbridge"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout.strip() == str(installed / "share/man/man1/wsbridge.1")
    assert str(Path("/usr/local/share/wsbridge/presets")) in Path(done.stdout.strip()).read_text()


def test_units_name_the_program_where_it_is(tmp_path: Path) -> None:
    place = install(tmp_path, "/opt/wsbridge")
    units = list((place / "lib/systemd/system").glob("*.service"))
    for unit in units:
        assert "ExecStart=/opt/wsbridge/bin/wsbridge serve" in unit.read_text()
    assert len(units) == len(list((ROOT / "config").glob("*.service")))


def test_uninstalling_leaves_what_others_put_there(tmp_path: Path) -> None:
    place = install(tmp_path)
    (place / "share/wsbridge/presets/own.yaml").touch()
    assert make("uninstall", f"DESTDIR={tmp_path}").returncode == 0
    assert files(place) == {"share/wsbridge/presets/own.yaml"}
    assert not (place / "share/doc/wsbridge").exists()


def test_nothing_is_installed_that_was_not_built(tmp_path: Path) -> None:
    done = make("install", f"DESTDIR={tmp_path}", binary=tmp_path / "missing")
    assert done.returncode != 0
    assert "run make build first" in done.stderr
    assert files(tmp_path) == set()


def test_a_relative_prefix_is_refused(tmp_path: Path) -> None:
    assert "must begin with a slash" in make("install", f"DESTDIR={tmp_path}", "PREFIX=usr").stderr
