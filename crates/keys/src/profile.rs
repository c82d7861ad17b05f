//! Profiles: named sets of defaults.

use std::fmt;

/// A named set of defaults, which a scenario selects. A change of a default changes the results of
/// scenarios, and raises the results version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Today's RFCs.
    Rfc,
    /// Linux 6.18.
    Linux,
    /// The defaults of ns-2 version 2.35.
    Ns2_35,
    /// ns-2 as the studies of 2002 and 2003 used it.
    Ns2_2003,
}

impl Profile {
    /// All profiles, the default first.
    pub const ALL: [Self; 4] = [Self::Rfc, Self::Linux, Self::Ns2_35, Self::Ns2_2003];

    /// Names of all profiles, in the order of [`Self::ALL`].
    pub const NAMES: &[&str] = &["rfc", "linux", "ns2-2.35", "ns2-2003"];

    /// Returns the name used in scenario files.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the implementation or standard that the profile represents, in a sentence or two.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Rfc => "The rules of the current RFCs.",
            Self::Linux => {
                "The defaults of Linux 6.18; the source of each default names the kernel's setting. Segmentation \
                    offload is not modelled, except for the bursts of pacing."
            }
            Self::Ns2_35 => "The defaults of ns-2 version 2.35.",
            Self::Ns2_2003 => {
                "ns-2 as the studies of 2002 and 2003 used it: its defaults then, and the settings common to all runs \
                 of the HighSpeed TCP study (LBNL-52549, tables 5.1 to 5.3)."
            }
        }
    }

    /// Returns the profile with this name; `None` if there is none.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
