//! What to record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// No recording takes longer.
const LONGEST_S: f64 = 300.0;

/// A path, and flows over it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Of the link, each way, of IP packets.
    pub(crate) rate_bps: f64,
    /// One way.
    pub(crate) delay_s: f64,
    /// Packets that wait at most, without the one in service; towards the receivers only.
    pub(crate) limit_pkts: usize,
    pub(crate) duration_s: f64,
    /// Time between samples.
    pub(crate) sample_s: f64,
    pub(crate) flows: Vec<Flow>,
    /// Numbers of the data packets that are lost before the queue, in order, from zero.
    #[serde(default)]
    pub(crate) drops: Vec<u64>,
    /// Data packets are lost between these times.
    #[serde(default)]
    pub(crate) outage_s: Option<(f64, f64)>,
    /// Packets that find so many waiting are marked.
    #[serde(default)]
    pub(crate) mark_from_pkts: Option<usize>,
    /// Data packets that come to the queue later, so that others overtake them.
    #[serde(default)]
    pub(crate) reordering: Option<Reordering>,
    /// Socket option of the receivers.
    #[serde(default)]
    pub(crate) receive_buffer_bytes: Option<usize>,
    /// Set in both namespaces, by name without `net.ipv4.`.
    #[serde(default)]
    pub(crate) sysctls: BTreeMap<String, String>,
    /// Whether the packets are recorded, too.
    #[serde(default)]
    pub(crate) packets: bool,
}

/// One connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flow {
    pub(crate) algorithm: String,
    pub(crate) start_s: f64,
    /// All that it sends; unlimited otherwise.
    #[serde(default)]
    pub(crate) size_bytes: Option<u64>,
    /// Sent so much at a time.
    #[serde(default)]
    pub(crate) writes: Option<Writes>,
}

/// An application that writes at intervals, the first time after one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Writes {
    pub(crate) bytes: usize,
    pub(crate) every_s: f64,
}

/// Some of the data packets, drawn independently, come later.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reordering {
    pub(crate) probability: f64,
    pub(crate) delay_s: f64,
    pub(crate) seed: u64,
}

impl Case {
    /// Reads a case, and checks what would not end, or make no sense.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let case: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let positive = [
            ("rate_bps", case.rate_bps),
            ("delay_s", case.delay_s),
            ("duration_s", case.duration_s),
            ("sample_s", case.sample_s),
        ];
        for (key, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(format!("{key} is {value}, must be greater than 0"));
            }
        }
        if case.duration_s > LONGEST_S {
            let given = case.duration_s;
            return Err(format!("duration_s is {given}, at most {LONGEST_S}"));
        }
        if case.flows.is_empty() {
            return Err("no flows".to_string());
        }
        if !case.drops.is_sorted() {
            return Err("drops must be in order".to_string());
        }
        Ok(case)
    }

    /// One way.
    pub(crate) fn delay_ns(&self) -> i64 {
        crate::system::nanoseconds(self.delay_s)
    }
}

#[cfg(test)]
mod tests {
    use super::Case;

    const GOOD: &str = r#"{"name": "a", "rate_bps": 1e7, "delay_s": 0.02, "limit_pkts": 33, "duration_s": 5,
        "sample_s": 0.01, "flows": [{"algorithm": "reno", "start_s": 0}]}"#;

    #[test]
    fn says_what_is_wrong_with_a_case() {
        assert!(Case::read(GOOD).is_ok());
        let error = |from: &str, to: &str| Case::read(&GOOD.replace(from, to)).unwrap_err();
        assert_eq!(
            error(r#""duration_s": 5"#, r#""duration_s": 4000"#),
            "duration_s is 4000, at most 300"
        );
        assert_eq!(error("0.02", "0"), "delay_s is 0, must be greater than 0");
        assert!(error("limit_pkts", "limits").contains("unknown field `limits`"));
    }
}
