# Ten HSTCP flows with access links at both ends; a packet and its acknowledgement cross six links.
#   ns six_hops.tcl out=FILE [sched=Calendar] [seed=1] [T=100]
# Sender - 10 Gbit/s, 1 ms - R0 - 622 Mbit/s, 48 ms, RED, 7000 packets - R1 - 10 Gbit/s, 1 ms - sink.
# Agents and RED as in gold.tcl with ecn=1 max_ssthresh=100 red_adaptive=1 red_setbit=true. Window,
# acknowledgements and queue are sampled every 100 ms, as in gold.tcl. Prints the packets sent.
array set P { out run sched Calendar seed 1 T 100 }
foreach a $argv { lassign [split $a =] k v; set P($k) $v }
remove-all-packet-headers
add-packet-header Flags IP TCP
set ns [new Simulator]
$ns use-scheduler $P(sched)
ns-random $P(seed)
Queue/RED set q_weight_ -1
Queue/RED set thresh_ 0
Queue/RED set maxthresh_ 0
Queue/RED set adaptive_ 1
Queue/RED set gentle_ true
Queue/RED set setbit_ true
Queue/RED set mean_pktsize_ 1500
Queue/RED set bottom_ 0
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 622e6 0.048 RED
$ns queue-limit $left $right 7000
$ns queue-limit $right $left 7000
set monitor [$ns monitor-queue $left $right ""]
for {set i 0} {$i < 10} {incr i} {
  foreach {end router} [list source $left sink $right] {
    set $end [$ns node]
    $ns duplex-link [set $end] $router 10e9 0.001 DropTail
    $ns queue-limit [set $end] $router 1000000
    $ns queue-limit $router [set $end] 1000000
  }
  set tcp [new Agent/TCP/Sack1]
  set receiver [new Agent/TCPSink/Sack1]
  $tcp set packetSize_ 1460
  $receiver set packetSize_ 40
  foreach {key value} {
    window_ 100000 windowInit_ 2 tcpTick_ 0.01 minrto_ 0.2 max_ssthresh_ 100 ecn_ 1
    windowOption_ 8 low_window_ 38 high_window_ 83000 high_p_ 1e-7 high_decrease_ 0.1
  } { $tcp set $key $value }
  $tcp set fid_ $i
  $ns attach-agent $source $tcp
  $ns attach-agent $sink $receiver
  $ns connect $tcp $receiver
  set ftp [new Application/FTP]
  $ftp attach-agent $tcp
  $ns at [expr [ns-random] / 2147483647.0] "$ftp start"
  lappend agents $tcp
}
set samples [open $P(out) w]
proc sample {} {
  global ns agents monitor samples
  set line [$ns now]
  foreach tcp $agents { append line " " [$tcp set cwnd_] " " [$tcp set ack_] " " [$tcp set ndatapack_] }
  puts $samples "$line [$monitor set pkts_] [$monitor set pdrops_] [$monitor set pdepartures_]"
  $ns at [expr [$ns now] + 0.1] sample
}
proc finish {} {
  global agents samples
  close $samples
  set sent 0
  foreach tcp $agents { incr sent [$tcp set ndatapack_] }
  puts "sent $sent"
  exit 0
}
$ns at 0.0 sample
$ns at $P(T) finish
$ns run
