# SPDX-License-Identifier: GPL-2.0-only
# Shows what a tape has of a download: events, bytes, and how long woken tasks waited for a CPU.
import sys
from collections import Counter

import schedtape

events, received, buckets = Counter(), 0, Counter()
with schedtape.open(sys.argv[1]) as tape:
    for event in tape:
        events[event.event] += 1
    for sample in tape.samples():
        events[sample.event] += 1
        if sample.event == "net:netif_receive_skb":
            received += sample.fields["len"]
    for wait in tape.waits():
        if wait.woken:
            buckets[((wait.end_ns - wait.begin_ns) // 1000).bit_length()] += 1

for name, count in events.most_common(4):
    print(f"{count:9,}  {name}")
print(f"{received:9,}  bytes received")
for bucket in sorted(buckets):
    print(f"{1 << bucket >> 1:6} to {1 << bucket:6} us {'#' * (buckets[bucket] // 10 + 1)}")
