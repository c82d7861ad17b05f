# Longhaul's packmime.toml: web traffic at 85 % of 10 Mbit/s both ways.
#   ns packmime.tcl out=FILE [sched=Calendar] [seed=1] [T=60]
# There are five clouds of clients and five of servers in each direction. Each cloud has its own access link and
# delay box, which adds half of the round-trip times that PackMime draws for this side. The bottleneck's queues
# are sampled every second. ns-2 deletes closed connections with their packet counters. The script therefore
# prints the number of data packets that Longhaul sends for the same number of bytes over the bottleneck: one for
# each 1217 bytes, which include headers, handshakes and acknowledgements.
array set P { out run sched Calendar seed 1 T 60 }
foreach a $argv { lassign [split $a =] k v; set P($k) $v }
remove-all-packet-headers
add-packet-header IP TCP
set ns [new Simulator]
$ns use-scheduler $P(sched)
ns-random $P(seed)
foreach {key value} { segsize_ 1420 nodelay_ true segsperack_ 2 interval_ 0.1 } {
  Agent/TCP/FullTcp set $key $value
}
foreach {key value} { window_ 68 windowInit_ 2 minrto_ 1 } { Agent/TCP set $key $value }
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 10Mb 5ms DropTail
$ns queue-limit $left $right 136
$ns queue-limit $right $left 136
set monitors [list [$ns monitor-queue $left $right ""] [$ns monitor-queue $right $left ""]]
foreach {clients servers rate} [list $right $left 24.1 $left $right 22.9] {
  for {set i 0} {$i < 5} {incr i} {
    foreach {end router} [list client $clients server $servers] {
      set $end [$ns DelayBox]
      $ns duplex-link [set $end] $router 10Mb 1ms DropTail
      $ns queue-limit [set $end] $router 10000
      $ns queue-limit $router [set $end] 10000
    }
    $client add-rule [$client id] [$server id] [new RandomVariable/PackMimeHTTPXmit $rate 0]
    $server add-rule [$client id] [$server id] [new RandomVariable/PackMimeHTTPXmit $rate 1]
    set web [new PackMimeHTTP]
    $web set-client $client
    $web set-server $server
    $web set-rate $rate
    $web set-TCP Newreno
    $web set-flow_arrive [new RandomVariable/PackMimeHTTPFlowArrive $rate]
    $web set-req_size [new RandomVariable/PackMimeHTTPFileSize $rate 0]
    $web set-rsp_size [new RandomVariable/PackMimeHTTPFileSize $rate 1]
    $ns at 0 "$web start"
  }
}
set samples [open $P(out) w]
proc sample {} {
  global ns monitors samples
  set line [$ns now]
  foreach monitor $monitors {
    append line " [$monitor set pkts_] [$monitor set pdrops_] [$monitor set pdepartures_]"
  }
  puts $samples $line
  $ns at [expr [$ns now] + 1] sample
}
proc finish {} {
  global monitors samples
  close $samples
  set bytes 0
  foreach monitor $monitors { set bytes [expr $bytes + [$monitor set bdepartures_]] }
  puts "sent [expr int($bytes / 1217)]"
  exit 0
}
$ns at 0.0 sample
$ns at $P(T) finish
$ns run
