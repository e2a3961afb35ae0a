# SPDX-License-Identifier: GPL-2.0-only
# Shows how long tasks waited from a wake-up until they ran, as a histogram.
#
# Usage: schedtape script -s wakeup-latency.pl [COMM]
#
# With COMM only tasks of that name.

use strict;
use warnings;

my $only = shift @ARGV;
my (%woken, @buckets, @worst);

sub sched::sched_wakeup
{
	my (undef, undef, undef, $secs, $nsecs, undef, undef, undef, undef, $pid) = @_;

	$woken{$pid} = $secs * 1_000_000_000 + $nsecs;
}

sub sched::sched_wakeup_new
{
	sched::sched_wakeup(@_);
}

# An event that is made of two others.
sub wakeup_latency
{
	my ($latency, $comm, $pid, $since) = @_;
	my $bucket = 0;

	for (my $us = int($latency / 1000); $us; $us >>= 1) {
		$bucket++;
	}
	$buckets[$bucket]++;
	@worst = @_ if !@worst || $latency > $worst[0];
}

sub sched::sched_switch
{
	my (undef, undef, undef, $secs, $nsecs, undef, undef, undef, undef, undef, undef, undef, $comm,
		$pid) = @_;
	my $since = delete $woken{$pid};

	return if !defined $since || defined $only && $only ne $comm;
	wakeup_latency($secs * 1_000_000_000 + $nsecs - $since, $comm, $pid, $since);
}

sub trace_end
{
	my ($most) = sort { $b <=> $a } map { $_ // 0 } @buckets;

	printf "%21s  wake-ups\n", 'us';
	for my $bucket (0 .. $#buckets) {
		my $count = $buckets[$bucket] // 0;
		my $text = $count;

		1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
		printf "%9d to %8d  %9s  %s\n", (1 << $bucket) >> 1, 1 << $bucket, $text,
			'#' x (40 * $count / $most + 0.5);
	}
	return if !@worst;
	printf "worst: %.3f us, %s:%d, woken at %.6f s\n", $worst[0] / 1000, $worst[1], $worst[2],
		$worst[3] / 1e9;
}

1;
