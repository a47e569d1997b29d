"""Whether the files of docker/cluster are what their programs take, and agree with each other."""

import copy
import re
import tempfile
from pathlib import Path

import kubernetes_validate
import yaml
from cluster_proxies import CLUSTER, NAMES, Proxy
from compose_spec import PyCompose

# The oldest Kubernetes that has all that is used, and the newest that the schemas know.
KUBERNETES = ["1.30", "1.37"]
DRAIN, REQUESTS_IN_FLIGHT = 2, 10


def require(condition: object, message: str) -> None:
    if not condition:
        raise SystemExit(f"FAILED: {message}")


# --- Proxies ----------------------------------------------------------------------------------------------------------

def check_proxy(name: str) -> str:
    """The proxy's own check of its configuration; then of one with an option that it does not have."""
    wrong = {
        "haproxy": ("option redispatch 1", "option redispatched 1"), "nginx": ("proxy_buffering", "proxy_bufering"),
        "envoy": ("num_retries", "number_of_retries")}[name]
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(name, Path(folder), [20001, 20002, 20003])
        is_valid, said = proxy.check()
        require(is_valid, f"{name} does not take its configuration:\n{said}")
        complaints = [line for line in said.splitlines() if re.search(r"\[WARNING\]|\[warn\]|[Dd]eprecated", line)]
        require(not complaints, f"{name} takes its configuration with complaints:\n" + "\n".join(complaints))
        text = proxy.file.read_text()
        require(wrong[0] in text, f"{name}'s configuration has no {wrong[0]}")
        proxy.file.write_text(text.replace(*wrong))
        require(not proxy.check()[0], f"{name} takes {wrong[1]} too, so its check says nothing")
    return "takes its configuration, and not one with a wrong word"


# --- Compose ----------------------------------------------------------------------------------------------------------

def check_compose() -> str:
    # PyYAML merges `<<`, as Compose does and this checker does not.
    right = yaml.safe_load((CLUSTER / "compose.yaml").read_text())

    def is_valid(content: dict) -> bool:
        try:
            PyCompose.from_yaml(yaml.safe_dump(content))
        except ValueError as problem:
            print(f"compose: {problem}") if content is right else None
            return False
        return True

    require(is_valid(right), "this is no Compose file")
    wrong = copy.deepcopy(right)
    wrong["services"]["proxy"]["read_onyl"] = True
    require(not is_valid(wrong), "the check of the Compose file takes a member that does not exist")
    services = right["services"]
    replicas = {name: service for name, service in services.items() if name != "proxy"}
    require(list(replicas) == [f"understudy-{name}" for name in NAMES], f"the replicas are called {list(replicas)}")
    peers = ",".join(f"http://{name}:8080" for name in replicas)
    for name, service in services.items():
        require(service["read_only"] and service["cap_drop"] == ["ALL"], f"{name} has a writable root, or capabilities")
        require("no-new-privileges:true" in service["security_opt"], f"{name} may gain privileges")
    for name, service in replicas.items():
        require(service["command"][-2:] == ["--replica", name[-1]], f"{name} has the command {service['command']}")
        require(service["environment"]["UNDERSTUDY_PEERS"] == peers, f"the peers of {name} are others than {peers}")
        require(service["volumes"] == ["state:/var/lib/understudy"], f"{name} has other volumes")
        grace = int(service["stop_grace_period"].removesuffix("s"))
        require(grace > DRAIN + REQUESTS_IN_FLIGHT, f"{name} has {grace} s to end")
    named = re.findall(r'"\$\{REPLICA_[ABC]-(.*?)\}"', (CLUSTER / "haproxy.cfg").read_text())
    require(named == [f"{name}:8080" for name in replicas], f"haproxy.cfg knows {named} by default")
    return "the Compose file is one, and its names are those of haproxy.cfg"


# --- Kubernetes -------------------------------------------------------------------------------------------------------

def check_kubernetes() -> str:
    kustomization = yaml.safe_load((CLUSTER / "kustomization.yaml").read_text())
    files = sorted(path.relative_to(CLUSTER).as_posix() for path in (CLUSTER / "kubernetes").glob("*.yaml"))
    require(sorted(kustomization["resources"]) == files, f"kustomization.yaml should name {files}")
    resources = [each for name in files for each in yaml.safe_load_all((CLUSTER / name).read_text())]
    for resource in resources:
        for version in KUBERNETES:
            # Raises with the place of what is wrong.
            kubernetes_validate.validate(resource, version, strict=True)
    wrong = copy.deepcopy(resources[-1])
    wrong["spec"]["nonsense"] = True
    try:
        kubernetes_validate.validate(wrong, KUBERNETES[0], strict=True)
    except kubernetes_validate.ValidationError:
        pass
    else:
        require(False, "the check of Kubernetes' files takes a member that does not exist")
    by_name = {(each["kind"], each["metadata"]["name"]): each for each in resources}
    pods = [each["spec"]["template"] for each in resources if each["kind"] in ("StatefulSet", "Deployment")]
    check_selectors(resources, pods)
    for pod in pods:
        check_pod(pod["spec"])
    check_names(by_name, kustomization)
    return f"{len(resources)} resources fit the schemas of Kubernetes {' and '.join(KUBERNETES)}, and each other"


def check_selectors(resources: list[dict], pods: list[dict]) -> None:
    """Each selector finds the pods of one template, by all of whose labels."""
    labels = [pod["metadata"]["labels"] for pod in pods]
    for resource in resources:
        spec, name = resource.get("spec", {}), f"{resource['kind']} {resource['metadata']['name']}"
        selector = spec.get("selector", spec.get("podSelector"))
        if selector is not None:
            require(selector.get("matchLabels", selector) in labels, f"{name} selects {selector}, and no pod has these labels")


def check_pod(spec: dict) -> None:
    [container] = spec["containers"]
    name, security, inner = container["name"], spec["securityContext"], container["securityContext"]
    require(security["runAsNonRoot"] and security["runAsUser"] > 0, f"{name} may run as root")
    require(security["seccompProfile"] == {"type": "RuntimeDefault"}, f"{name} has no seccomp profile")
    require(inner == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
        f"{name} has {inner}")
    require({"requests", "limits"} <= set(container["resources"]), f"{name} says not what it needs")
    require({mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]},
            f"{name} mounts other volumes than it has")
    # A Service `understudy` would make UNDERSTUDY_PORT a URL.
    require(name != "understudy" or spec["enableServiceLinks"] is False, f"{name} gets variables of Services")


def check_names(by_name: dict, kustomization: dict) -> None:
    replicas, proxy = by_name["StatefulSet", "understudy"], by_name["Deployment", "understudy-proxy"]
    service = replicas["spec"]["serviceName"]
    require(by_name["Service", service]["spec"]["clusterIP"] == "None", f"the Service {service} has an address of its own")
    pod = replicas["spec"]["template"]["spec"]
    require(pod["terminationGracePeriodSeconds"] > DRAIN + REQUESTS_IN_FLIGHT, "replicas have too little time to end")
    require(f"http://{service}:8080" in pod["containers"][0]["args"], f"the peers should be http://{service}:8080")
    claim = pod["volumes"][0]["persistentVolumeClaim"]["claimName"]
    require(by_name["PersistentVolumeClaim", claim]["spec"]["accessModes"] == ["ReadWriteMany"], f"{claim} is not for many")
    namespace = by_name["Namespace", kustomization["namespace"]]["metadata"]["name"]
    names = [
        f"understudy-{number}.{service}.{namespace}.svc.cluster.local:8080"
        for number in range(replicas["spec"]["replicas"])]
    container = proxy["spec"]["template"]["spec"]["containers"][0]
    given = {each["name"]: each["value"] for each in container["env"]}
    require(given == {f"REPLICA_{letter.upper()}": name for letter, name in zip(NAMES, names)}, f"the proxy knows {given}")
    [made] = kustomization["configMapGenerator"]
    [volume] = proxy["spec"]["template"]["spec"]["volumes"]
    require((volume["configMap"]["name"], made["files"]) == (made["name"], ["haproxy.cfg"]), "the proxy has another file")
