#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: redis and nginx are recorded under a small load and replayed. diff finds the player
# of each task, also of threads and processes that never ran.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

servers=$build/servers
[ -d "$servers" ] || skip_all "there are no servers: selftests/qemu/fetch servers unpacks them"

# with_libraries COMMAND...: runs a server's program
with_libraries()
{
	LD_LIBRARY_PATH=$(echo "$servers"/usr/lib/*-linux-gnu) exec "$@"
}

cat > nginx.conf << END
daemon off;
user root;
worker_processes 2;
pid $dir/nginx.pid;
error_log stderr;
events { }
http {
	access_log off;
	client_body_temp_path $dir/body;
	proxy_temp_path $dir/proxy;
	fastcgi_temp_path $dir/fastcgi;
	uwsgi_temp_path $dir/uwsgi;
	scgi_temp_path $dir/scgi;
	server {
		listen unix:$dir/nginx.sock;
		location / { return 200 "hello\n"; }
	}
}
END

# Sends 40 requests to a server, one after the other, with pauses.
cat > load.py << 'END'
import socket, sys, time
requests = {"redis": b"INCR counter\r\n", "nginx": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}
with socket.socket(socket.AF_UNIX) as s:
	s.connect(sys.argv[1] + ".sock")
	for i in range(40):
		s.sendall(requests[sys.argv[1]])
		assert s.recv(4096)
		time.sleep(0.01)
END

load()
{
	/usr/bin/python3 load.py "$1" 2> log
}

# replayed SERVER PROGRAM TASKS: records a server that is running, with all its processes and
# threads, and replays it. Some of its tasks never run meanwhile.
replayed()
{
	local name=$1 matched

	matched="[d['verdict'][key] for key in ('matched', 'only_a', 'only_b')] == [$3, 0, 0]"
	eventually load "$name"
	report $? "$name answers"
	schedtape record -q -o "$name.tape" -p "$(pgrep -d , -x "$2")" -- \
		/usr/bin/python3 load.py "$name" > log 2>&1 &&
		schedtape report --json "$name.tape" > tape.json 2> log &&
		like tape.json "len(d['tasks']) == $3"
	report $? "$name: $3 tasks are recorded"
	like tape.json 'any(not t["cpu_time_ns"] for t in d["tasks"])'
	report $? "$name: some of them never ran"
	schedtape replay -q --record "$name.replay" "$name.tape" > log 2>&1
	report $? "$name: replayed"
	if ! schedtape diff --json "$name.tape" "$name.replay" > diff.json 2> log ||
	   ! like diff.json "$matched"; then
		schedtape diff "$name.tape" "$name.replay" >> log 2>&1
		false
	fi
	report $? "$name: diff finds the player of each of the $3 tasks"
}

with_libraries "$servers/usr/bin/redis-server" --port 0 --unixsocket "$dir/redis.sock" \
	--save '' --appendonly no --dir "$dir" > redis.log 2>&1 &
redis=$!
# The main thread, three for work in the background, and one of the allocator.
replayed redis redis-server 5
kill $redis
wait $redis

with_libraries "$servers/usr/sbin/nginx" -c "$dir/nginx.conf" -p "$dir" -e stderr \
	> nginx.log 2>&1 &
nginx=$!
replayed nginx nginx 3
kill $nginx
wait $nginx

finish
