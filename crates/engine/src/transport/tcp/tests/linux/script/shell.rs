//! Shell commands of a script, which change settings of the kernel.

use crate::transport::tcp::tests::linux::table::Settings;

/// Ignored kernel settings: they do not affect a single sender of full segments, or set what the model has anyway.
const WITHOUT_EFFECT: &[&str] = &[
    "tcp_rmem",
    "tcp_wmem",
    "tcp_ecn",
    "tcp_ecn_option",
    "tcp_frto",
    "tcp_dsack",
    "tcp_fack",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_no_metrics_save",
    "tcp_notsent_lowat",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_syncookies",
    "tcp_timestamps",
    // Tail loss probes, which are always enabled here.
    "tcp_early_retrans",
    // The time for which a sender waits to send larger segments, which is zero here.
    "tcp_tso_win_divisor",
];

/// Programs whose calls are ignored: they only set defaults that the profile `linux` has, too.
const SCRIPTS: &[&str] = &["defaults.sh", "sysctl_restore", "hystart_detect"];

/// Changes `settings` as the shell commands in `commands` do.
pub(super) fn apply(commands: &str, settings: &mut Settings) -> Result<(), String> {
    for command in commands.replace("\\\n", " ").lines().map(str::trim) {
        let command = command.split('#').next().unwrap_or("").trim();
        if command.starts_with("tc qdisc") {
            settings.pacing = match command.split_whitespace().last() {
                Some("fq") => true,
                Some("pfifo") => false,
                _ => return Err("a queue of the host".to_string()),
            };
        } else if command.contains("sysctl") && command.contains('=') {
            let pairs = command
                .split_whitespace()
                .filter_map(|word| word.split_once('='));
            for (name, value) in pairs {
                let name = name.rsplit(['/', '.']).next().unwrap_or(name);
                set(name, value.trim_matches('"'), settings)?;
            }
        } else if !command.is_empty() && !SCRIPTS.iter().any(|known| command.contains(known)) {
            return Err("a command".to_string());
        }
    }
    Ok(())
}

fn set(name: &str, value: &str, settings: &mut Settings) -> Result<(), String> {
    match (name, value) {
        ("tcp_slow_start_after_idle", _) => settings.restarts = value != "0",
        ("tcp_min_tso_segs", _) => {
            settings.burst = value.parse().map_err(|_| "a number of segments")?;
        }
        ("tcp_sack", _) => settings.sack = value != "0",
        ("tcp_congestion_control", "cubic")
        | ("tcp_recovery", "1")
        | ("tcp_reordering", "3")
        | ("tcp_pacing_ss_ratio", "200")
        | ("tcp_pacing_ca_ratio", "120") => {}
        _ if WITHOUT_EFFECT.contains(&name) => {}
        _ => return Err("a sysctl".to_string()),
    }
    Ok(())
}
