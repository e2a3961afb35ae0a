# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs a script that is written as perf script has them on the events of a tape:
#
#	perl -e THIS EVENTS ANSWER SIZE SCRIPT ARGUMENT...
#
# schedtape writes the events to the first descriptor, and reads from the second one which of them
# the script has functions for, see user/cmd/script/perl.c.  This needs no module that is not in
# Debian's perl-base.

package Perf::Trace::Core;

use strict;
use warnings;
require Exporter;

our @ISA = ('Exporter');
our @EXPORT = qw(define_flag_field define_flag_value flag_str dump_flag_fields
	define_symbolic_field define_symbolic_value symbol_str dump_symbolic_fields trace_flag_str);

# By event and field: { delim => "|", values => { VALUE => NAME } }
my (%flags, %symbols);
my %trace_flags = (0 => 'NONE', 1 => 'IRQS_OFF', 2 => 'IRQS_NOSUPPORT', 4 => 'NEED_RESCHED',
	8 => 'HARDIRQ', 16 => 'SOFTIRQ');

# Returns the names of the bits of a value.  Bits that have been named are not named again.
sub bits
{
	my ($names, $delim, $value) = @_;
	my @found;

	return $names->{0} // '' if !$value;
	for my $bits (sort { $a <=> $b } keys %$names) {
		next if !$bits || ($value & $bits) != $bits;
		push @found, $names->{$bits};
		$value &= ~$bits;
	}
	return join $delim, @found;
}

sub define_flag_field
{
	my ($event, $field, $delim) = @_;

	$flags{$event}{$field}{delim} = $delim;
}

sub define_flag_value
{
	my ($event, $field, $value, $name) = @_;

	$flags{$event}{$field}{values}{$value} = $name;
}

sub define_symbolic_field
{
	my ($event, $field) = @_;

	$symbols{$event}{$field} //= {};
}

sub define_symbolic_value
{
	my ($event, $field, $value, $name) = @_;

	$symbols{$event}{$field}{values}{$value} = $name;
}

sub flag_str
{
	my ($event, $field, $value) = @_;
	my $flag = ($flags{$event} // {})->{$field} // {};

	return bits($flag->{values} // {}, $flag->{delim} ? " $flag->{delim} " : '', $value);
}

sub symbol_str
{
	my ($event, $field, $value) = @_;

	return ((($symbols{$event} // {})->{$field} // {})->{values} // {})->{$value // 0};
}

sub trace_flag_str
{
	my ($value) = @_;

	return bits(\%trace_flags, ' | ', $value);
}

sub dump_fields
{
	my ($events) = @_;

	for my $event (sort keys %$events) {
		print "event $event:\n";
		for my $name (sort keys %{$events->{$event}}) {
			my $field = $events->{$event}{$name};

			print "    field: $name:\n";
			print "        delim: $field->{delim}\n" if defined $field->{delim};
			print "        value $_: $field->{values}{$_}\n"
				for sort { $a <=> $b } keys %{$field->{values} // {}};
		}
	}
}

sub dump_flag_fields { dump_fields(\%flags) }
sub dump_symbolic_fields { dump_fields(\%symbols) }

define_flag_field('sched::sched_switch', 'prev_state', '|');
my %states = (0 => 'R', 1 => 'S', 2 => 'D', 4 => 'T', 8 => 't', 16 => 'X', 64 => 'P', 128 => 'I');
define_flag_value('sched::sched_switch', 'prev_state', $_, $states{$_}) for keys %states;

# What perf tells of an event besides its fields.  The context of a sample has two bytes of its data.
package Perf::Trace::Context;

our @ISA = ('Exporter');
our @EXPORT = qw(common_pc common_flags common_lock_depth);

sub common_pc { $_[0] >> 8 }
sub common_flags { $_[0] & 255 }
sub common_lock_depth { 0 }

package Perf::Trace::Util;

our @ISA = ('Exporter');
our @EXPORT = qw(avg nsecs nsecs_secs nsecs_nsecs nsecs_str clear_term);

use constant NSECS_PER_SEC => 1000000000;

sub avg { $_[0] / $_[1] }
sub nsecs { $_[0] * NSECS_PER_SEC + $_[1] }
sub nsecs_secs { $_[0] / NSECS_PER_SEC }
sub nsecs_nsecs { $_[0] % NSECS_PER_SEC }
sub nsecs_str { sprintf '%5u.%09u', nsecs_secs($_[0]), nsecs_nsecs($_[0]) }
sub clear_term { print "\x1b[H\x1b[2J" }

package Schedtape::Script;

# Scripts find the modules here, and not in the folders that they add for perf.
BEGIN {
	$INC{"Perf/Trace/$_.pm"} = 'schedtape' for qw(Core Context Util);
	$ENV{PERF_EXEC_PATH} //= '/nonexistent';
}

# Fields that some kernels have besides ours: their place, and their value here.
my %extra = (success => [3, 1], vruntime => [3, 0], group_dead => [3, 0]);

# Returns a function of the script, if it has it.
sub find
{
	my ($name) = @_;

	no strict 'refs';
	return defined &$name ? \&$name : undef;
}

# Reads the names of a field's values, or of its bits.
sub read_names
{
	my ($point, $line) = @_;
	my (undef, $field, $value, $name) = split /\t/, $line, 4;

	if (defined $name) {
		$point->{names}[-1]{values}{$value} = $name;
	} else {
		push @{$point->{names}}, { field => $field, delim => $value, values => {} };
	}
}

# Reads the table of tracepoints, which comes before the events.  Returns their names and the
# templates of their fields, by their numbers.  The fields of a sample are behind its record.
sub read_points
{
	my ($feed) = @_;
	my (@points, $last);

	while (my $line = <$feed>) {
		chomp $line;
		last if $line eq '';
		if ($line =~ /^\t/) {
			read_names($last, $line);
			next;
		}
		my ($number, $name, $template, $sample) = split ' ', $line;

		$last = { name => $name, template => "x4 L L L l Z16 " . ($sample ? 'LS' : $template) };
		$last->{values} = $template if $sample;
		$points[$number] = $last;
	}
	return @points;
}

# Tells flag_str() and symbol_str() the names of values.
sub define_names
{
	my ($point) = @_;

	for my $names (@{$point->{names} // []}) {
		my $kind = defined $names->{delim} ? 'flag' : 'symbolic';
		my ($begin, $add) = map { find("main::define_${kind}_$_") } qw(field value);

		next if !$begin || !$add;
		$begin->($point->{name}, $names->{field}, $names->{delim} // ());
		$add->($point->{name}, $names->{field}, $_, $names->{values}{$_})
			for keys %{$names->{values}};
	}
}

# Sets the function for each tracepoint, and the extra fields that it names.
sub set_calls
{
	my ($text, @points) = @_;

	for my $point (grep { $_ } @points) {
		my $name = $point->{name};

		$point->{call} = find($name);
		# Only a script that asks for the derived event gets it.
		$point->{call} //= find('main::trace_unhandled')
			if $name !~ /stat_runtime/ || $point->{values};
		define_names($point) if $point->{call};
		next if $point->{values};
		next if $text !~ /^\s*sub\s+\Q$name\E\s*\{\s*my\s*\(([^()]*)\)\s*=\s*\@_/m;
		my $arguments = $1;
		$point->{extra} = [map { $extra{$_} } grep { $arguments =~ /\$$_\b/ } keys %extra];
	}
}

# Answers which tracepoints have functions, by their numbers.
sub answer
{
	my ($descriptor, @points) = @_;

	open my $answer, '>&=', $descriptor or die "cannot answer: $!\n";
	print $answer join(' ', grep { $points[$_] && $points[$_]{call} } 0 .. $#points), "\n";
	close $answer;
}

# Ctrl-C ends the events, as in perf.  The second one ends the script.
sub run_events
{
	my ($feed, $size, @points) = @_;
	my ($record, $values, $stopped);

	$SIG{INT} = sub { $stopped = 1; $SIG{INT} = 'DEFAULT' } if !$SIG{INT};
	while (!$stopped && (read($feed, $record, $size) // 0) == $size) {
		my $point = $points[unpack 'L', $record];
		my ($cpu, $secs, $nsecs, $pid, $comm, @fields) = unpack $point->{template}, $record;
		my $context = 0;

		if ($point->{values}) {
			$context = $fields[1];
			last if (read($feed, $values, $fields[0]) // 0) != $fields[0];
			@fields = unpack $point->{values}, $values;
		} elsif ($point->{extra}) {
			splice @fields, $_->[0], 0, $_->[1] for @{$point->{extra}};
		}
		$point->{call}->($point->{name}, $context, $cpu, $secs, $nsecs, $pid, $comm, [], @fields);
	}
	close $feed;
}

sub load
{
	my ($script) = @_;

	$0 = $script;
	$script = "./$script" if $script !~ m{^\.{0,2}/};
	{
		package main;
		do $script;
	}
	die $@ if $@;
	open my $file, '<', $script or die "$script: $!\n";
	local $/;
	return <$file>;
}

# A tape names tracepoints, but none of these may be a function of Perl's or of ours.
sub drop_known
{
	my @points = @_;
	my %known = map { /^(\w+)::$/ ? ($1 => 1) : () } keys %main::;

	return map { !$_ || ($_->{name} =~ /^(\w+)::\w+$/ && !$known{$1}) ? $_ : undef } @points;
}

sub run
{
	my ($descriptor, $answer, $size, $script) = splice @ARGV, 0, 4;

	open my $feed, '<&=', $descriptor or die "cannot read events: $!\n";
	binmode $feed;
	my @points = drop_known(read_points($feed));
	my $text = load($script);
	my $begin = find('main::trace_begin');
	$begin->() if $begin;
	set_calls($text, @points);
	answer($answer, @points);
	run_events($feed, $size, @points);
	my $end = find('main::trace_end');
	$end->() if $end;
}

if (!eval { run(); 1 }) {
	print STDERR $@;
	exit 1;
}
