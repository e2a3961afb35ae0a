#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# calibrate.py - make the tape of another machine
#
# Usage: calibrate.py TAPE NEW FACTOR SPREAD
#
# NEW is a copy of TAPE as a machine would have recorded it that runs the empty loop FACTOR times
# as fast and whose speed varied by SPREAD.
import ctypes
import json
import struct
import subprocess
import sys

xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH64.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)
xxhash.XXH64.restype = ctypes.c_uint64


def xxh64(data):
    return xxhash.XXH64(data, len(data), 0)


def main(tape, new, factor, spread):
    with open(tape, "rb") as file:
        data = file.read()
    # The first record is META. Only its compressed part has to be read.
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
