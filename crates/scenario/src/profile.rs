//! Defaults that depend on the profile and on other values, and reading of a file of defaults (MesoNet's, which are the
//! same in all profiles).

use std::sync::Arc;

use longhaul_keys::{KIND, Key, Profile};

use crate::algorithm::VARIANT;
use crate::check::check_root;
use crate::document::{Node, Origin, Source, Table};
use crate::read;

/// Parses the text of a file of defaults, which must be valid; all values get the origin `origin`.
pub(crate) fn load(name: &str, text: &str, keys: &'static [Key], origin: &Origin) -> Table {
    let source = Arc::new(Source::new(name, text));
    let mut table = read::parse(&source).expect("a profile is TOML");
    let errors = check_root(&mut table, keys, origin);
    assert!(errors.is_empty(), "profile {name}: {}", errors[0]);
    table.attribute(origin);
    table
}

/// Returns the variant that a profile prefers. Algorithms that have this variant use it by default.
pub(crate) fn variant(profile: Profile) -> Node {
    let name = match profile {
        Profile::Rfc => "paper",
        Profile::Linux => "linux-6.18",
        Profile::Ns2_35 | Profile::Ns2_2003 => "ns2",
    };
    Node::text(name, Origin::Profile(profile.name()))
}

/// Returns the profile's limited slow start, for a slow start with the key `max_ssthresh` but without a `kind`.
pub(crate) fn limited_slow_start(profile: Profile) -> Node {
    let name = match profile {
        Profile::Rfc | Profile::Linux => "limited",
        Profile::Ns2_35 | Profile::Ns2_2003 => "ns2-limited",
    };
    Node::text(name, Origin::Profile(profile.name()))
}

/// Returns a receive window that limits no flow, as a multiple of the bytes that the path and its queues can contain.
/// Also returns a text that explains the multiple to users.
pub(crate) fn receive_window(profile: Profile) -> (f64, &'static str) {
    if profile == Profile::Linux {
        // When slow start doubles the bytes of a round trip, the kernel's receiver sets its window to six times these
        // bytes (`tcp_rcvbuf_grow`).
        let rule = "6 x (path's bandwidth-delay product + its queues), at least 64 segments";
        (6.0, rule)
    } else {
        let rule = "2 x (path's bandwidth-delay product + its queues), at least 64 segments";
        (2.0, rule)
    }
}

/// Returns the profile's default kind of slow start. It depends on `congestion`, since the kernel uses
/// HyStart only in CUBIC.
pub(crate) fn slow_start(profile: Profile, congestion: &Table) -> Node {
    let kernel_s_cubic = profile == Profile::Linux
        && congestion.is_word(KIND, "cubic")
        && congestion.is_word(VARIANT, variant(profile).word());
    if kernel_s_cubic {
        Node::text("hystart", Origin::Profile(profile.name()))
    } else {
        Node::text("standard", Origin::Default)
    }
}
