test_prio: module/record/test_prio.c lib/attributes.h lib/child.h \
 lib/invariants.h lib/record.h \
 /tmp/w/slice/user/lib/include/schedtape/client.h \
 /tmp/w/slice/user/lib/include/schedtape.h \
 /tmp/w/slice/user/lib/include/schedtape-decode.h \
 /tmp/w/slice/user/lib/include/schedtape-tape.h \
 /tmp/w/slice/user/lib/include/schedtape-page.h \
 /tmp/w/slice/include/schedtape/device.h \
 /tmp/w/slice/include/schedtape/event.h \
 /tmp/w/slice/include/schedtape/netlink.h \
 /tmp/w/slice/user/lib/include/schedtape-timeline.h lib/prio.h \
 lib/record.h lib/request.h lib/task.h
lib/attributes.h:
lib/child.h:
lib/invariants.h:
lib/record.h:
/tmp/w/slice/user/lib/include/schedtape/client.h:
/tmp/w/slice/user/lib/include/schedtape.h:
/tmp/w/slice/user/lib/include/schedtape-decode.h:
/tmp/w/slice/user/lib/include/schedtape-tape.h:
/tmp/w/slice/user/lib/include/schedtape-page.h:
/tmp/w/slice/include/schedtape/device.h:
/tmp/w/slice/include/schedtape/event.h:
/tmp/w/slice/include/schedtape/netlink.h:
/tmp/w/slice/user/lib/include/schedtape-timeline.h:
lib/prio.h:
lib/record.h:
lib/request.h:
lib/task.h:
