#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# calibrate.py - make the tape of another machine
#
# Usage: calibrate.py TAPE NEW FACTOR SPREAD
#
# NEW is TAPE as of a machine that turns the empty loop FACTOR times as fast, and whose
# speed varied by SPREAD.
import json
import struct
import subprocess
import sys

PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161,
	  9650029242287828579, 2870177450012600261)
MASK = (1 << 64) - 1


def turn(x, n):
    return (x << n | x >> (64 - n)) & MASK


def mix(lane, word):
    return turn((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data):
    """XXH64 with the seed 0."""
    at, h = 0, PRIMES[4]
    if len(data) >= 32:
        lanes = [(PRIMES[0] + PRIMES[1]) & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        while at + 32 <= len(data):
            words = struct.unpack_from("<4Q", data, at)
            lanes = [mix(lane, word) for lane, word in zip(lanes, words)]
            at += 32
        h = sum(turn(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ mix(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    h = (h + len(data)) & MASK
    while at + 8 <= len(data):
        word = struct.unpack_from("<Q", data, at)[0]
        h = (turn(h ^ mix(0, word), 27) * PRIMES[0] + PRIMES[3]) & MASK
        at += 8
    if at + 4 <= len(data):
        word = struct.unpack_from("<I", data, at)[0]
        h = (turn(h ^ word * PRIMES[0] & MASK, 23) * PRIMES[1] + PRIMES[2]) & MASK
        at += 4
    for byte in data[at:]:
        h = turn(h ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    h = (h ^ h >> 33) * PRIMES[1] & MASK
    h = (h ^ h >> 29) * PRIMES[2] & MASK
    return h ^ h >> 32


def main(tape, new, factor, spread):
    with open(tape, "rb") as file:
        data = file.read()
    # The first record is META.  Only what is compressed in it has to be known.
    begin = struct.unpack_from("<I", data, 12)[0]
    magic, kind, _, extra, stored = struct.unpack_from("<4sHHII", data, begin)
    end = begin + 32 + extra + stored
    if (magic, kind) != (b"STrc", 1):
        sys.exit("there is no META")
    record = data[begin:begin + 24] + bytes(8) + data[begin + 32:end]
    if xxh64(record) != struct.unpack_from("<Q", data, begin + 24)[0]:
        sys.exit("META's checksum is wrong")
    info = subprocess.run(["schedtape", "info", "--json", tape], stdout=subprocess.PIPE,
                          check=True)
    meta = json.loads(info.stdout)["meta"]
    meta["calibration"]["spins_per_ms"] *= float(factor)
    meta["calibration"]["spread"] = float(spread)
    text = json.dumps(meta).encode()
    text += b" " * (-len(text) % 8)
    header = struct.pack("<4sHHIII", b"STrc", 1, 0, 0, len(text), len(text))
    total = xxh64(header + bytes(12) + text)
    with open(new, "wb") as file:
        file.write(data[:begin] + header + struct.pack("<4xQ", total) + text +
                   data[end + -end % 8:])


main(*sys.argv[1:])
