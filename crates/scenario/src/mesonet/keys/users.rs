//! Keys of sources (think times, files, congestion control) and of long-lived flows.

use longhaul_keys::{Kind, PROBABILITY, Range, Table, keys, words};

use super::{IDENTIFIER, Identifier, MOMENT, PACKETS, POSITIVE_STEPS, WHOLE_FACTOR, Written};

keys! {
    /// Keys of the request times of sources.
    pub(crate) struct UserKeys {
        /// Mean of the exponential time between two files of a source: a time, or time steps (lambdaOFF); 5000 by
        /// default.
        pub think: Written = POSITIVE_STEPS.key(),
        /// Distribution of the times of the first requests.
        pub start: StartKeys = Kind::Table(StartKeys::KEYS).key(),
    }
}

keys! {
    /// Keys of the table with the times of first requests.
    pub(crate) struct StartKeys {
        /// Probability that a source requests its first file at once (prON); 0.25 by default.
        pub at_once: f64 = PROBABILITY.key(),
        /// Probability that a source waits for a third of users.think on average before its first request
        /// (prONsecond); 0.08 by default.
        pub second: f64 = PROBABILITY.key(),
        /// Probability that a source waits for two thirds of users.think on average before its first request
        /// (prONthird); 0.17 by default. In the remaining cases, a source waits for users.think on average.
        pub third: f64 = PROBABILITY.key(),
    }
}

keys! {
    /// Keys of the types and sizes of files.
    pub(crate) struct FileKeys {
        /// Mean of the Pareto distribution from which file sizes are drawn, in packets (lambdaON); 50 by default.
        pub mean: f64 = PACKETS.key(),
        /// Shape of the Pareto distribution (alpha), above 1 so that a mean exists; 1.5 by default.
        pub shape: f64 = Kind::Number(Range::above(1.0, 1000.0)).key(),
        /// Documents: files with a drawn size multiplied by a factor. The sizes of Web objects are not multiplied.
        pub documents: LargeFiles = Kind::Table(Documents::KEYS).key(),
        /// Service packs: large files, with a drawn size multiplied by service_packs.factor; none by default.
        pub service_packs: LargeFiles = Kind::Table(LargeFiles::KEYS).key(),
        /// Movies: large files, with a drawn size multiplied by movies.factor; none by default.
        pub movies: LargeFiles = Kind::Table(LargeFiles::KEYS).key(),
        /// True if the numbers of active large files have upper and lower limits (NIST SP 500-282, chapter 8); false by
        /// default.
        pub admission: bool = Kind::Flag.key(),
        /// Fractions of the flows in each class of path, which determine the minimum numbers of active large files. By
        /// default they follow from the shares of sources and receivers below each class of access routers.
        pub path_shares: Option<PathShares> = Kind::Table(PathShares::KEYS).key(),
        /// Period of larger files between direct access routers; none by default.
        pub jumbo: Option<JumboKeys> = Kind::Table(JumboKeys::KEYS).key(),
    }
}

keys! {
    /// Keys of documents: files that are larger than Web objects.
    pub(crate) struct Documents {
        /// Probability that a file is a document (Fp); 0.01 by default.
        pub probability: f64 = PROBABILITY.key(),
        /// Factor that multiplies the drawn size (Fx); 10 by default.
        pub factor: u64 = WHOLE_FACTOR.key(),
    }
}

keys! {
    /// Keys of a type of larger files.
    pub(crate) struct LargeFiles {
        /// Probability that a file is of this type (Sp for service packs, Mp for movies); 0 by default.
        pub probability: f64 = PROBABILITY.key(),
        /// Factor that multiplies the size drawn for a file (Sx, Mx); by default 1000 for service
        /// packs and 10000 for movies.
        pub factor: u64 = WHOLE_FACTOR.key(),
    }
}

keys! {
    /// Keys of the fractions of flows on each class of path.
    pub(crate) struct PathShares {
        /// Fraction of the flows that run between two direct access routers.
        pub very_fast: f64 = PROBABILITY.key().required(),
        /// Fraction of the flows that run between two fast access routers, or between a fast and a direct one.
        pub fast: f64 = PROBABILITY.key().required(),
        /// Fraction of the flows with a normal access router at one end or both.
        pub typical: f64 = PROBABILITY.key().required(),
    }
}

words! {
    /// Sizes that the factor of jumbo files multiplies.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum JumboBase {
        /// Sizes of documents: the size of a Web object is first multiplied by documents.factor, as if it were a
        /// document.
        Document = "document",
        /// Sizes of all files.
        File = "file",
    }
}

keys! {
    /// Keys of the period of jumbo files.
    pub(crate) struct JumboKeys {
        /// Beginning of the period of jumbo files: a time, or a fraction of the run (original name: Jon). With a
        /// fraction of 1 or more there are no jumbo files.
        pub from: Written = MOMENT.key().required(),
        /// End of the period of jumbo files: a time, or a fraction of the run (original name: Joff).
        pub until: Written = MOMENT.key().required(),
        /// Factor that multiplies the sizes of jumbo files (original name: Jx).
        pub factor: u64 = WHOLE_FACTOR.key().required(),
        /// Sizes of Web objects in the period of jumbo files. `file`: the drawn size times `factor`. `document`
        /// (default): the drawn size times `factor` times documents.factor, as for documents.
        pub base: JumboBase = Kind::Word(JumboBase::WORDS).key(),
    }
}

keys! {
    /// Keys of an algorithm that sources may use.
    pub(crate) struct AlgorithmKeys {
        /// Label in tables; the name of the algorithm by default.
        pub label: String = Kind::Name.key(),
        /// The algorithm: `kind` (default: reno), `variant` (default: `nist` if available), parameters; or `python`,
        /// `module` or `external`.
        pub congestion: Table = Kind::Congestion.key(),
        /// Probability that a source uses the algorithm; algorithms without a share divide the rest
        /// equally by default.
        pub share: f64 = PROBABILITY.key(),
        /// True if goodput reports group the algorithm's flows with those of alternate algorithms,
        /// not with standard TCP; true by default for all but Reno.
        pub alternate: bool = Kind::Flag.key(),
    }
}

keys! {
    /// Keys of a long-lived flow.
    pub(crate) struct LongLivedKeys {
        /// Label in tables; L1 and so on by default.
        pub label: String = Kind::Name.key(),
        /// Access router of the source, by name or by number from 1 (LL_FLOW_SOURCES).
        pub from: Identifier = IDENTIFIER.key().required(),
        /// Access router of the receiver, by name or by number from 1 (LL_FLOW_RECEIVERS).
        pub to: Identifier = IDENTIFIER.key().required(),
        /// Time of the flow's first packet: a time, or a fraction of the run (LLon); 0 by default.
        /// With a fraction of 1 or more, the flow never starts.
        pub start: Written = MOMENT.key(),
        /// End of the flow: a time, or a fraction of the run; 1 by default.
        pub stop: Written = MOMENT.key(),
        /// Label of the flow's algorithm (SOURCE_TYPE); by default the algorithm is drawn like that of a source.
        pub algorithm: Option<String> = Kind::Name.key(),
        /// Largest rate of the flow's hosts, in packets per time step; hosts.fast_rate by default.
        pub rate: f64 = PACKETS.key(),
    }
}
