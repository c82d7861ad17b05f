//! Keys and variants that were renamed. Messages about an old name state the new one.

use longhaul_congestion::Variant;

/// Pairs of old and new names of keys. A new name may be a path: two keys joined by a dot.
const RENAMED: [(&str, &str); 7] = [
    ("begun_within", "start_within"),
    ("both", "duplex"),
    ("host_noise", "host_processing_delay"),
    ("most", "max_rows"),
    ("per_connection", "requests_per_connection"),
    ("reverse_queue", "reverse.queue"),
    ("separate", "connection_per_object"),
];

/// Returns the new name of the unknown key `key`; `None` if the key was not renamed, or if its new name (of a path, the
/// first key) is not among the keys `known`.
pub(crate) fn new_name(key: &str, known: &[&str]) -> Option<&'static str> {
    let (_, new) = RENAMED.iter().find(|(old, _)| *old == key)?;
    let first = new.split('.').next()?;
    known.contains(&first).then_some(*new)
}

/// Returns a message with the new name of the variant that was named `linux`, the one of Linux 2.6.22. Returns `None`
/// if `name` is not `linux`, or if the algorithm's variants `known` do not include this one.
pub(crate) fn variant(name: &str, known: &[Variant]) -> Option<String> {
    let older = Variant::Linux2_6_22;
    if name != "linux" || !known.contains(&older) {
        return None;
    }
    let current = Variant::Linux6_18;
    let other = if known.contains(&current) {
        format!("; a current kernel's is `{current}`")
    } else {
        String::new()
    };
    Some(format!("variant `linux` is called `{older}` now{other}"))
}
