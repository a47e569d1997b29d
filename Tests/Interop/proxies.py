"""Third-party reverse proxies in front of the running server, with persistent connections."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from world import Server, reserved_port

NGINX = """
daemon off; master_process off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors; {user}
events {{ worker_connections 512; }}
http {{
    access_log off; client_max_body_size 0; client_header_timeout 3s; client_body_timeout 3s;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    upstream understudy {{ server 127.0.0.1:{upstream}; keepalive 1; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass {scheme}://understudy; proxy_http_version 1.1; proxy_next_upstream off; {trust}
            proxy_set_header Connection ""; proxy_set_header Host $http_host;
            proxy_ignore_client_abort on; proxy_request_buffering {buffering};
        }}
    }}
}}
"""

# An upstream over TLS with its certificate verified; nginx verifies names, not addresses.
NGINX_TRUST = """
            proxy_ssl_verify on; proxy_ssl_trusted_certificate {authority}; proxy_ssl_name localhost;
            proxy_ssl_server_name on; proxy_ssl_protocols TLSv1.2 TLSv1.3;
"""

HAPROXY = """
global
    maxconn 512
defaults
    mode http
    retries 0
    option http-keep-alive
    http-reuse always
    timeout connect 5s
    timeout client 3s
    timeout server 10s
    timeout http-request 3s
frontend front
    bind 127.0.0.1:{port}
    default_backend back
backend back
    server understudy 127.0.0.1:{upstream}
"""

APACHE = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
DefaultRuntimeDir {folder}
Listen 127.0.0.1:{port}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
ErrorLog {folder}/errors
Timeout 3
StartServers 1
ServerLimit 1
ThreadsPerChild 64
MaxRequestWorkers 64
MaxKeepAliveRequests 0
HttpProtocolOptions Strict Require1.0
AllowEncodedSlashes NoDecode
MergeSlashes Off
ProxyPreserveHost On
ProxyPass / http://127.0.0.1:{upstream}/ nocanon retry=0
"""


class Proxy:
    """One proxy as a child process."""

    def __init__(self, name: str, folder: Path, server: Server):
        self.name = name
        is_secure = name == "nginx-secure"
        self.port = reserved_port()
        file = folder / "configuration"
        program, template, options = {
            "nginx": ("nginx", NGINX, ["-p", folder, "-c", file]),
            "nginx-buffering": ("nginx", NGINX, ["-p", folder, "-c", file]),
            "nginx-secure": ("nginx", NGINX, ["-p", folder, "-c", file]),
            "haproxy": ("haproxy", HAPROXY, ["-db", "-f", file]),
            "apache": ("apache2", APACHE, ["-D", "FOREGROUND", "-f", file]),
        }[name]
        file.write_text(template.format(
            folder=folder, port=self.port, upstream=server.secure_port if is_secure else server.port,
            scheme="https" if is_secure else "http", user="user root;" if os.geteuid() == 0 else "",
            trust=NGINX_TRUST.format(authority=server.authority) if is_secure else "",
            buffering="on" if name == "nginx-buffering" else "off",
        ))
        path = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
        if path is None:
            raise FileNotFoundError(f"{program} is not installed; docker/bootstrap.sh ci installs it")
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen([path, *options], cwd=folder, stdout=log, stderr=log)
        self.await_listener()

    def await_listener(self) -> None:
        end = time.monotonic() + 10
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.process.kill()
                    raise RuntimeError(f"{self.name} did not start:\n{self.log.read_text()}") from None
                time.sleep(0.02)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
