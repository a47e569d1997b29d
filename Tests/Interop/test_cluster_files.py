"""The files of docker/cluster agree with each other and with the server; no engine and no cluster has run them."""

import re

import yaml
from world import ROOT

CLUSTER = ROOT / "docker/cluster"
# The drain and the requests in flight, in seconds.
TO_END = 2 + 10


def test_the_compose_file_starts_what_the_proxy_knows():
    services = yaml.safe_load((CLUSTER / "compose.yaml").read_text())["services"]
    servers = {name: service for name, service in services.items() if name not in ("proxy", "postgres")}
    assert set(re.findall(r'"\$\{REPLICA_[ABC]-(.*?)\}"', (CLUSTER / "haproxy.cfg").read_text())) == {f"{name}:8080" for name in servers}
    for service in servers.values():
        assert service["environment"]["UNDERSTUDY_STATE"] == "postgres://understudy@postgres/understudy"
        assert int(service["stop_grace_period"].removesuffix("s")) > TO_END
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert services["postgres"]["environment"]["POSTGRES_USER"] == "understudy"
    assert services["postgres"]["environment"]["POSTGRES_PASSWORD"] == servers["understudy-a"]["environment"]["PGPASSWORD"]


def test_the_resources_of_kubernetes_name_each_other():
    text = (CLUSTER / "kubernetes.yaml").read_text()
    resources = {(each["kind"], each["metadata"]["name"]): each["spec"] for each in yaml.safe_load_all(text)}
    servers, proxy = resources["StatefulSet", "understudy"], resources["Deployment", "understudy-proxy"]
    labels = [each["template"]["metadata"]["labels"] for each in (servers, proxy)]
    for spec in resources.values():
        assert spec["selector"].get("matchLabels", spec["selector"]) in labels
    for pod in (servers["template"]["spec"], proxy["template"]["spec"]):
        [container] = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert servers["template"]["spec"]["terminationGracePeriodSeconds"] > TO_END
    # A Service `understudy` would make UNDERSTUDY_PORT a URL.
    assert servers["template"]["spec"]["enableServiceLinks"] is False
    names = [f"understudy-{number}.{servers['serviceName']}.understudy.svc.cluster.local:8080" for number in range(servers["replicas"])]
    [container] = proxy["template"]["spec"]["containers"]
    assert {each["name"]: each["value"] for each in container["env"]} == dict(zip(("REPLICA_A", "REPLICA_B", "REPLICA_C"), names))
    # What its first lines make by hand.
    variables = {each["name"]: each.get("valueFrom", {}).get("secretKeyRef") for each in servers["template"]["spec"]["containers"][0]["env"]}
    for variable in ("UNDERSTUDY_STATE", "UNDERSTUDY_CONTROL_TOKEN"):
        assert f"--from-literal={variables[variable]['key']}=" in text
    [volume] = proxy["template"]["spec"]["volumes"]
    assert f"create configmap {volume['configMap']['name']} --from-file=docker/cluster/haproxy.cfg" in text
