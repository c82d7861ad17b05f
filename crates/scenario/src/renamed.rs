//! Keys that had another name: messages about an old name give the new one.

/// Old and new names.
const RENAMED: [(&str, &str); 6] = [
    ("begun_within", "start_within"),
    ("both", "duplex"),
    ("host_noise", "host_processing_delay"),
    ("most", "max_rows"),
    ("per_connection", "requests_per_connection"),
    ("separate", "connection_per_object"),
];

/// The new name of an unknown key, if that is one of `known`.
pub(crate) fn new_name<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let (_, new) = RENAMED.iter().find(|(old, _)| *old == key)?;
    known.iter().find(|name| *name == new).copied()
}
