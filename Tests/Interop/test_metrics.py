"""The metrics as Prometheus' own parser reads them."""

import math
import threading

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families
from world import API_KEY, Server


@pytest.fixture
def counted(tmp_path):
    """A server without other clients, and a function that reads its metrics by family."""
    server = Server(tmp_path)

    def read() -> dict:
        answer = requests.get(f"{server.url}/_understudy/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        return {family.name: family for family in text_string_to_metric_families(answer.text)}

    yield server, read
    assert server.stop() == 0


def guest(server, **headers):
    return requests.post(f"{server.url}/v2/credentials/register/guest", headers=headers)


def samples(family, suffix: str = "") -> dict:
    return {
        tuple(sorted(sample.labels.items())): sample.value
        for sample in family.samples if sample.name == family.name + suffix
    }


def labels(**values) -> tuple:
    return tuple(sorted(values.items()))


def test_every_family_is_typed_and_helped(counted):
    _, read = counted
    families = read()
    assert {name: family.type for name, family in families.items()} == {
        "understudy_requests": "counter", "understudy_request_duration_seconds": "histogram",
        "understudy_control_calls": "counter", "understudy_open_connections": "gauge",
        "understudy_open_websockets": "gauge", "understudy_sandboxes": "gauge",
        "understudy_sandboxes_in_memory": "gauge", "understudy_journal_entries": "gauge",
        "understudy_journal_bytes": "gauge", "understudy_log_lines_dropped": "counter", "understudy_build_info": "gauge", "process_start_time_seconds": "gauge",
        **({"process_resident_memory_bytes": "gauge"} if "process_resident_memory_bytes" in families else {}),
    }
    assert all(family.documentation for family in families.values())


def test_requests_are_counted_by_vendor_route_status_and_reason(counted):
    server, read = counted
    for _ in range(3):
        guest(server, **{"x-rezolve-partner-apikey": API_KEY})
    guest(server)
    requests.get(f"{server.url}/nowhere/at/all")
    assert samples(read()["understudy_requests"], "_total") == {
        labels(vendor="rezolve", route="rua.guest", status="200", reason=""): 3,
        labels(vendor="rezolve", route="rua.guest", status="500", reason="rua-api-key-missing"): 1,
        labels(vendor="", route="", status="404", reason=""): 1,
    }


def test_the_histogram_keeps_its_promises(counted):
    server, read = counted
    for _ in range(50):
        guest(server)
    family = read()["understudy_request_duration_seconds"]
    for vendor in {sample.labels["vendor"] for sample in family.samples}:
        buckets = [
            (float(sample.labels["le"]), sample.value)
            for sample in family.samples if sample.name.endswith("_bucket") and sample.labels["vendor"] == vendor
        ]
        assert buckets == sorted(buckets) and buckets[-1][0] == math.inf
        assert [count for _, count in buckets] == sorted(count for _, count in buckets)
        assert buckets[-1][1] == samples(family, "_count")[labels(vendor=vendor)]
    assert samples(family, "_count")[labels(vendor="rezolve")] == 50
    assert 0 < samples(family, "_sum")[labels(vendor="rezolve")] < 50


def test_a_scrape_under_load_is_consistent_and_misses_nothing(counted):
    server, read = counted

    def load():
        with requests.Session() as session:
            for _ in range(100):
                session.post(f"{server.url}/v2/credentials/register/guest")

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    before = 0
    while any(thread.is_alive() for thread in threads):
        families = read()
        count = samples(families["understudy_request_duration_seconds"], "_count")[labels(vendor="rezolve")]
        total = sum(samples(families["understudy_requests"], "_total").values())
        assert before <= count == total
        assert families["understudy_open_connections"].samples[0].value >= 1
        before = count
    assert sum(samples(read()["understudy_requests"], "_total").values()) == 800


def test_connections_count_while_they_are_open(counted):
    server, read = counted
    sessions = [requests.Session() for _ in range(5)]
    for session in sessions:
        session.get(f"{server.url}/_understudy/health")
    assert read()["understudy_open_connections"].samples[0].value == 6
    for session in sessions:
        session.close()
