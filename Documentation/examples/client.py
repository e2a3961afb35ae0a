#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""client.py - the clients of the tutorial

Usage: client.py SOCKET NAME COUNT PAUSE REQUEST

Sends a request to redis COUNT times, with pauses of PAUSE seconds, as a task of this NAME.
Prints how long the answers took.
"""
import socket
import sys
import time


def main():
    """Sends, and measures."""
    path, name, count, pause, request = sys.argv[1:]
    with open("/proc/self/comm", "w", encoding="ascii") as comm:
        comm.write(name)
    times = []
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        for _ in range(int(count)):
            start = time.monotonic()
            server.sendall(request.encode() + b"\r\n")
            server.recv(65536)
            times.append(1000 * (time.monotonic() - start))
            time.sleep(float(pause))
    times.sort()
    print(f"{name}: median {times[len(times) // 2]:.2f} ms, worst {times[-1]:.2f} ms")


main()
