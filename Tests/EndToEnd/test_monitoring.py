"""What comes with the metrics: alerts and a dashboard, tried with Prometheus and its own tools."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import Bridge, Upstream, await_truth
from harness.environment import ROOT
from harness.metrics import promtool, scrape

ALERTS = ROOT / "config/alerts.yaml"
DASHBOARD = json.loads((ROOT / "config/grafana-dashboard.json").read_text())
PROMETHEUS = ROOT / "config/prometheus.yaml"

RULES = {
    rule["alert"]: rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]
}

#: What is written in expressions and is no name of a series: words and functions of PromQL, and labels.
WORDS = {
    *(
        "and",
        "or",
        "on",
        "by",
        "sum",
        "count",
        "rate",
        "increase",
        "histogram_quantile",
        "time",
        "job",
        "instance",
    ),
    *(
        "connection",
        "state",
        "code",
        "phase",
        "direction",
        "le",
        "reason",
        "method",
        "route",
        "problem",
        "holder",
    ),
}


def expressions() -> list[str]:
    """What the panels of the dashboard ask for, as Grafana would ask it of everything."""
    found = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
    return [
        re.sub(r"\$(job|instance|connection)\b", ".*", it.replace("$__rate_interval", "1m")) for it in found
    ]


def names_in(expression: str) -> set[str]:
    """The names of series in an expression."""
    bare = re.sub(r'"[^"]*"|\[[^\]]*\]', "", expression)
    return set(re.findall(r"[a-zA-Z_]\w*", bare)) - WORDS


@pytest.fixture
def stored(upstream: Upstream, start_bridge: Callable[..., Bridge], tmp_path: Path) -> Bridge:
    """A bridge with a store, to which most things have happened."""
    path = tmp_path / "bridge.yaml"
    path.write_text(
        "connections: { default: { heartbeat: { interval: 100ms }, reconnect: { initialDelay: 10ms } } }"
    )
    bridge = start_bridge(upstream.url, "--config", str(path), "--data-dir", str(tmp_path / "data"))
    bridge.await_ready()
    bridge.stream()
    upstream.peer().close(1001)
    upstream.peer(1)
    bridge.send("x")
    return bridge


class Prometheus:
    """A running Prometheus."""

    def __init__(self, address: str):
        self.base = f"http://{address}/api/v1/"

    def ask(self, resource: str, **parameters: str) -> Any:
        url = self.base + resource + "?" + urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(url, timeout=10) as answer:
            result = json.load(answer)
        assert result["status"] == "success", result
        return result["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        return self.ask("query", query=expression)["result"]


@pytest.fixture
def start_prometheus(tmp_path: Path) -> Iterator[Callable[[Bridge], Prometheus]]:
    """Start Prometheus as `config/prometheus.yaml` has it, but with a bridge's address and more haste."""
    with contextlib.ExitStack() as stack:

        def start(bridge: Bridge) -> Prometheus:
            settings = yaml.safe_load(PROMETHEUS.read_text())
            (job,) = settings["scrape_configs"]
            job["scrape_interval"] = job["scrape_timeout"] = "200ms"
            job["static_configs"][0]["targets"] = [f"{bridge.address[0]}:{bridge.address[1]}"]
            settings["rule_files"] = [str(PROMETHEUS.parent / name) for name in settings["rule_files"]]
            settings["global"] = {"evaluation_interval": "200ms"}
            path = tmp_path / "prometheus.yaml"
            path.write_text(yaml.safe_dump(settings))
            with socket.create_server(("127.0.0.1", 0)) as server:
                address = f"127.0.0.1:{server.getsockname()[1]}"
            flags = [f"--config.file={path}", f"--storage.tsdb.path={tmp_path}/tsdb"]
            process = subprocess.Popen(
                ["prometheus", *flags, f"--web.listen-address={address}"], stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            prometheus = Prometheus(address)

            def is_there() -> bool:
                with contextlib.suppress(OSError):
                    return bool(prometheus.ask("status/buildinfo"))
                return False

            await_truth(is_there, "Prometheus answers")
            return prometheus

        yield start


# Prometheus


def test_the_configuration_is_right() -> None:
    assert "FAILED" not in promtool("check", "config", PROMETHEUS)


def test_prometheus_reads_the_metrics_and_all_panels_show_something(
    stored: Bridge, start_prometheus: Callable[[Bridge], Prometheus]
) -> None:
    prometheus = start_prometheus(stored)
    await_truth(lambda: prometheus.query("count_over_time(up[1m]) > 2"), "some scrapes")
    (target,) = prometheus.ask("targets")["activeTargets"]
    assert target["health"] == "up", target
    assert target["lastError"] == ""
    shown = {it["metric"]["__name__"] for it in prometheus.query('{__name__=~"wsbridge_.+|process_.+"}')}
    expected = {name.split("{")[0] for name in scrape(stored).series()}
    assert shown == expected
    assert {it["type"] for it in prometheus.ask("metadata")["wsbridge_outbox_wait_seconds"]} == {"histogram"}
    for expression in expressions():
        result = prometheus.query(expression)
        # Some ask for what has not happened.
        assert result or "> 0" in expression or "[45].." in expression, expression
    firing = [alert["labels"]["alertname"] for alert in prometheus.ask("alerts")["alerts"]]
    assert [name for name in firing if "for" not in RULES[name]] == []


# The dashboard


def test_the_dashboard_asks_for_what_there_is(stored: Bridge, tmp_path: Path) -> None:
    shown = {name.split("{")[0] for name in scrape(stored).series()}
    assert len(expressions()) > 40
    for expression in expressions():
        assert names_in(expression), expression
        assert names_in(expression) <= shown, expression
    rules = [{"record": f"panel:{index}", "expr": it} for index, it in enumerate(expressions())]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", path)


def test_the_dashboard_can_be_imported() -> None:
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        if panel["type"] == "row":
            continue
        # Whoever imports it chooses where the figures come from.
        assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references), panel["title"]
    variables = {it["name"] for it in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]+)\b", json.dumps(DASHBOARD["panels"])))
    assert used == variables


def test_every_family_is_on_the_dashboard(stored: Bridge) -> None:
    asked = set().union(*map(names_in, expressions()))
    bare = {re.sub(r"_(bucket|sum|count)$", "", name) if "seconds_" in name else name for name in asked}
    missing = (
        set(scrape(stored).families)
        - bare
        - {name.removesuffix("_count").removesuffix("_sum") for name in asked}
    )
    assert missing <= {"process_virtual_memory_bytes"}


# The alerts


def test_the_alerts_ask_for_what_there_is(stored: Bridge) -> None:
    assert f"{len(RULES)} rules found" in promtool("check", "rules", ALERTS)
    shown = {name.split("{")[0] for name in scrape(stored).series()} | {"up"}
    for name, rule in RULES.items():
        assert names_in(rule["expr"]) <= shown, name


#: What leads to each alert: series, with their values minute by minute, beside those that are well.
CONNECTION = 'job="wsbridge",instance="b",connection="default"'
SITUATIONS: dict[str, dict[str, str]] = {
    "WsbridgeDown": {'up{job="wsbridge",instance="b"}': "1 0x20"},
    "WsbridgeNotReady": {
        f"wsbridge_connection_ready{{{CONNECTION}}}": "1 0x20",
        f'wsbridge_connection_state{{{CONNECTION},state="open"}}': "1 0x20",
        f'wsbridge_connection_state{{{CONNECTION},state="waiting"}}': "0 1x20",
    },
    "WsbridgeClosed": {
        f"wsbridge_connection_ready{{{CONNECTION}}}": "1 0x20",
        f'wsbridge_connection_state{{{CONNECTION},state="open"}}': "1 0x20",
        f'wsbridge_connection_state{{{CONNECTION},state="closed"}}': "0 1x20",
    },
    "WsbridgeFlapping": {
        f"wsbridge_connection_opens_total{{{CONNECTION}}}": "1+1x20",
        f"wsbridge_connection_retries_total{{{CONNECTION}}}": "0+1x20",
    },
    "WsbridgeHeartbeatMissed": {f"wsbridge_heartbeats_missed_total{{{CONNECTION}}}": "0+1x20"},
    "WsbridgeOutboxFilling": {f"wsbridge_outbox_messages{{{CONNECTION}}}": "0 900x20"},
    "WsbridgeOutboxFilling by bytes": {f"wsbridge_outbox_bytes{{{CONNECTION}}}": "0 15e6x20"},
    "WsbridgeMessagesRefused": {
        'wsbridge_http_refusals_total{job="wsbridge",instance="b",problem="outbox-full"}': "0+2x20"
    },
    "WsbridgeOutboxOld": {f"wsbridge_outbox_oldest_age_seconds{{{CONNECTION}}}": "0+60x20"},
    "WsbridgeMessagesLost": {f"wsbridge_outbox_expired_total{{{CONNECTION}}}": "0x5 3x15"},
    "WsbridgeGaps": {f'wsbridge_gaps_total{{{CONNECTION},reason="slow"}}': "0x5 2x15"},
    "WsbridgeStorageFailing": {'wsbridge_storage_up{job="wsbridge",instance="b"}': "1 0x20"},
    "WsbridgeLoopLag": {
        f'wsbridge_loop_turn_seconds_bucket{{job="wsbridge",instance="b",le="{bound}"}}': values
        for bound, values in {"0.25": "0+50x20", "0.5": "0+100x20", "+Inf": "0+100x20"}.items()
    },
    "WsbridgeHTTPErrors": {
        'wsbridge_http_requests_total{job="wsbridge",instance="b",route="/x",code="503"}': "0+60x20"
    },
    "WsbridgeDescriptors": {
        'process_open_fds{job="wsbridge",instance="b"}': "750x20",
        'process_max_fds{job="wsbridge",instance="b"}': "1000x20",
    },
    "WsbridgeClientsRefused": {
        'wsbridge_http_connections_refused_total{job="wsbridge",instance="b"}': "0x10 3x10"
    },
}


def test_there_is_a_situation_for_each_alert() -> None:
    assert {name.split()[0] for name in SITUATIONS} == set(RULES)


def assert_firing(names: set[str], series: dict[str, str], folder: Path) -> None:
    """Exactly these alerts fire after 15 minutes of this."""
    test = {
        "rule_files": [str(ALERTS)],
        "evaluation_interval": "15s",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "expr": 'group by (alertname) (ALERTS{alertstate="firing"})',
                        "eval_time": "15m",
                        "exp_samples": [
                            {"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(names)
                        ],
                    }
                ],
            }
        ],
    }
    path = folder / "test.yaml"
    path.write_text(yaml.safe_dump(test))
    promtool("test", "rules", path)


def well(bridge: Bridge) -> dict[str, str]:
    """What a healthy bridge showed, for ever the same."""
    series = {'up{job="wsbridge",instance="b"}': "1x20"}
    for name, value in scrape(bridge).series().items():
        family, labels = name[:-1].split("{", 1)
        own = 'job="wsbridge",instance="b"' + ("," + labels if labels else "")
        series[f"{family}{{{own}}}"] = f"{value:.9g}x20"
    return series


def canonical(name: str) -> tuple[str, frozenset[str]]:
    family, labels = name[:-1].split("{", 1)
    return family, frozenset(re.findall(r'\w+="[^"]*"', labels))


@pytest.fixture
def healthy(upstream: Upstream, start_bridge: Callable[..., Bridge], tmp_path: Path) -> dict[str, str]:
    """The series of a bridge that is well."""
    bridge = start_bridge(upstream.url, "--data-dir", str(tmp_path / "data"))
    bridge.await_ready()
    bridge.send("x")
    return well(bridge)


def test_no_alert_fires_where_all_is_well(healthy: dict[str, str], tmp_path: Path) -> None:
    assert_firing(set(), healthy, tmp_path)


def test_who_opens_only_when_needed_does_not_flap(healthy: dict[str, str], tmp_path: Path) -> None:
    changed = {canonical(name): (name, values) for name, values in healthy.items()}
    opens = f"wsbridge_connection_opens_total{{{CONNECTION}}}"
    changed[canonical(opens)] = (opens, "1+1x20")
    assert_firing(set(), dict(changed.values()), tmp_path)


@pytest.mark.parametrize("name", sorted(SITUATIONS))
def test_an_alert_fires_on_its_situation_alone(name: str, healthy: dict[str, str], tmp_path: Path) -> None:
    alert, situation = name.split()[0], SITUATIONS[name]
    changed = {canonical(name): (name, values) for name, values in healthy.items()}
    # The buckets of a histogram belong together.
    replaced = {canonical(name)[0] for name in situation if canonical(name)[0].endswith("_bucket")}
    changed = {key: it for key, it in changed.items() if key[0] not in replaced}
    changed |= {canonical(name): (name, values) for name, values in situation.items()}
    assert_firing({alert}, dict(changed.values()), tmp_path)
