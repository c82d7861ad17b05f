//! Keys that had another name: messages about an old name give the new one.

/// Old and new names.
const RENAMED: [(&str, &str); 7] = [
    ("begun_within", "start_within"),
    ("both", "duplex"),
    ("host_noise", "host_processing_delay"),
    ("most", "max_rows"),
    ("per_connection", "requests_per_connection"),
    ("reverse_queue", "reverse.queue"),
    ("separate", "connection_per_object"),
];

/// The new name of an unknown key, if that is one of `known`, or is in a table of them.
pub(crate) fn new_name(key: &str, known: &[&str]) -> Option<&'static str> {
    let (_, new) = RENAMED.iter().find(|(old, _)| *old == key)?;
    let first = new.split('.').next()?;
    known.contains(&first).then_some(*new)
}
