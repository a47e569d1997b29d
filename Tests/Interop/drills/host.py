"""Runs the app in forks of one process: to start Python and to import what the app needs takes longer than a drill.

    host.py SOCKET

It listens there until it is terminated. `ask.py` is the command that a drill starts instead of the app.
"""

import ast
import os
import socket
import sys
import threading
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import app


def end_with(connection: socket.socket) -> None:
    """Ends the app when the one who asked for it is gone, as when the drill ends its command."""
    connection.recv(1)
    os._exit(1)


def run(connection: socket.socket) -> int:
    """Runs the app as the command would have: its arguments, environment, folder and output. Returns its code."""
    message, outputs, _, _ = socket.recv_fds(connection, 1 << 20, 2)
    while not message.endswith(b"\n"):
        message += connection.recv(1 << 20)
    order = ast.literal_eval(message.decode())
    for output, standard in zip(outputs, (1, 2), strict=True):
        os.dup2(output, standard)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv[1:] = order["arguments"]
    threading.Thread(target=end_with, args=(connection,), daemon=True).start()
    try:
        return app.main()
    except SystemExit as end:
        return end.code
    except BaseException:
        traceback.print_exc()
        return 1


def main() -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen(64)
        print("ready", flush=True)
        apps = set()
        while True:
            connection, _ = listener.accept()
            with connection:
                if pid := os.fork():
                    apps.add(pid)
                else:
                    listener.close()
                    code = run(connection)
                    sys.stdout.flush()
                    sys.stderr.flush()
                    connection.sendall(bytes([code]))
                    os._exit(0)
            apps -= {pid for pid in apps if os.waitpid(pid, os.WNOHANG)[0]}


if __name__ == "__main__":
    main()
