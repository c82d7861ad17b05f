# What receivers of ns-2 make of N flows over the satellite link without a proxy: Sack1 senders, drop-tail.
#
#   ns sinks.tcl FLOWS QUEUE SINK SECONDS SEED [web]
#
# Bulk transfers, or with `web` Pareto bursts (table 4.2 of the thesis). SINK is one of ns-2's: TCPSink, TCPSink/DelAck, TCPSink/Sack1, TCPSink/Sack1/DelAck. Prints the means of the link from
# 0 s and from 100 s on, in Mbit/s on the wire.
lassign $argv flows queue sink seconds seed traffic

remove-all-packet-headers
add-packet-header IP TCP Common Flags
set ns [new Simulator]
$ns use-scheduler Calendar
ns-random $seed
Agent/TCP set window_ 100000
Agent/TCP set packetSize_ 1000
Agent/TCP set tcpip_base_hdr_size_ 40

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 100Mb 250ms DropTail
$ns queue-limit $left $right $queue
$ns queue-limit $right $left $queue
set starts [new RandomVariable/Uniform]
$starts set min_ 0
$starts set max_ 1
for {set i 0} {$i < $flows} {incr i} {
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $left 1000Mb 5ms DropTail
    $ns duplex-link $right $to 1000Mb 5ms DropTail
    foreach {a b} [list $from $left $left $from $right $to $to $right] { $ns queue-limit $a $b 100 }
    set tcp [new Agent/TCP/Sack1]
    set end [new Agent/$sink]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $end
    $ns connect $tcp $end
    if {$traffic eq "web"} {
        set source [new Application/Traffic/Pareto]
        $source set packetSize_ 210
        $source set burst_time_ 500ms
        $source set idle_time_ 500ms
        $source set rate_ 64k
        $source set shape_ 1.5
    } else {
        set source [new Application/FTP]
    }
    $source attach-agent $tcp
    $ns at [$starts value] "$source start"
}
set monitor [$ns monitor-queue $left $right [open /dev/null w] 1]
set settled 0
$ns at 100 {set settled [$monitor set pdepartures_]}
$ns at $seconds {
    set whole [$monitor set pdepartures_]
    puts [format "%d,%d,%s,%d,%d,%.2f,%.2f" $flows $queue $sink $seconds $seed \
        [expr {8e-6 * 1040 * $whole / $seconds}] [expr {8e-6 * 1040 * ($whole - $settled) / ($seconds - 100.0)}]]
    exit 0
}
$ns run
