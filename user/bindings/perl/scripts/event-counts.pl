# SPDX-License-Identifier: GPL-2.0-only
# Counts events by tracepoint, and by tracepoint and task.
#
# Usage: schedtape script -s event-counts.pl [COMM]
#
# With COMM only of tasks of that name. The task is the one that ran on the CPU. perf stat -e counts
# the same.

use strict;
use warnings;

my $only = shift @ARGV;
my (%counts, %by_task, @events, @tasks);

sub trace_unhandled
{
	my ($name, undef, undef, undef, undef, $pid, $comm) = @_;

	return if defined $only && $only ne $comm;
	$name =~ s/::/:/;
	push @events, $name if !$counts{$name}++;
	my $task = sprintf '%-26s %s:%d', $name, $comm, $pid;
	push @tasks, $task if !$by_task{$task}++;
}

# Prints those with the largest counts first.
sub show
{
	my ($counts, @names) = @_;

	for my $name (sort { $counts->{$b} <=> $counts->{$a} } @names) {
		my $count = $counts->{$name};

		1 while $count =~ s/^(\d+)(\d{3})/$1,$2/;
		printf "%12s  %s\n", $count, $name;
	}
}

sub trace_end
{
	show(\%counts, @events);
	print "\n";
	show(\%by_task, @tasks);
}

1;
