"""Has `host.py` run the app: `ask.py SOCKET ARGUMENTS…`. It imports little, since a drill starts it for each behaviour."""

import os
import sys
# The module socket alone takes as long as the start of Python.
from _socket import AF_UNIX, SCM_RIGHTS, SOL_SOCKET, socket

host = socket(AF_UNIX)
host.connect(sys.argv[1])
order = {"arguments": sys.argv[2:], "environment": dict(os.environ), "folder": os.getcwd()}
outputs = b"".join(number.to_bytes(4, sys.byteorder) for number in (1, 2))
message = repr(order).encode() + b"\n"
sent = host.sendmsg([message], [(SOL_SOCKET, SCM_RIGHTS, outputs)])
host.sendall(message[sent:])
# Nothing, if the app crashed.
code = host.recv(1)
sys.exit(code[0] if code else 70)
