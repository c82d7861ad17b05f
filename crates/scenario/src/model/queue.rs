//! Queue disciplines that a scenario may name.

mod keys;

use self::keys::{CODEL, DECBIT, DRR, FQ_CODEL, PI, PIE, REM, ROUND_ROBIN, VCP, XCP};
pub(super) use self::keys::{DROP_TAIL, RED};
use longhaul_keys::{Key, Kind, required};

/// A queue discipline that a scenario may name.
pub(crate) struct Discipline {
    pub kind: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub source: &'static str,
    pub fields: &'static [Key],
}

/// Every queue discipline.
pub(crate) const DISCIPLINES: &[Discipline] = &[
    Discipline {
        kind: "droptail",
        title: "Drop-tail",
        description: "First in, first out; a full queue drops the packet that arrives, or the first.",
        source: "head drop: Lakshman, Neidhardt and Ott, INFOCOM 1996",
        fields: DROP_TAIL,
    },
    Discipline {
        kind: "red",
        title: "Random early detection",
        description: "Selects arriving packets with a probability that grows with the average \
            queue; may adapt it.",
        source: "Floyd and Jacobson, ToN 1(4), 1993; Floyd, Gummadi and Shenker 2001; ns-2",
        fields: RED,
    },
    Discipline {
        kind: "codel",
        title: "Controlled delay",
        description: "Drops at a growing rate while every packet waits longer than a target.",
        source: "RFC 8289",
        fields: CODEL,
    },
    Discipline {
        kind: "fq-codel",
        title: "Flow queue CoDel",
        description: "Flows hashed to queues, each under CoDel, served in turn, new ones first.",
        source: "RFC 8290",
        fields: FQ_CODEL,
    },
    Discipline {
        kind: "pie",
        title: "Proportional integral controller enhanced",
        description: "Steers the probability of drops on arrival towards a target delay.",
        source: "RFC 8033",
        fields: PIE,
    },
    Discipline {
        kind: "pi",
        title: "PI controller",
        description: "Steers the probability of drops on arrival towards a reference queue.",
        source: "Hollot, Misra, Towsley and Gong, INFOCOM 2001; ns-2",
        fields: PI,
    },
    Discipline {
        kind: "rem",
        title: "Random exponential marking",
        description: "The probability is exponential in a price that sums up excess and backlog.",
        source: "Athuraliya, Low, Li and Yin, IEEE Network 15(3), 2001; ns-2",
        fields: REM,
    },
    Discipline {
        kind: "decbit",
        title: "DECbit",
        description: "Marks while the average queue is at least a packet.",
        source: "Ramakrishnan and Jain, TOCS 8(2), 1990",
        fields: DECBIT,
    },
    Discipline {
        kind: "round-robin",
        title: "Round robin",
        description: "A queue for each flow, served packet by packet in turn.",
        source: "Nagle, RFC 970",
        fields: ROUND_ROBIN,
    },
    Discipline {
        kind: "drr",
        title: "Deficit round robin",
        description: "A queue for each flow, with equal shares in bytes.",
        source: "Shreedhar and Varghese, ToN 4(3), 1996",
        fields: DRR,
    },
    Discipline {
        kind: "vcp",
        title: "VCP router",
        description: "Drop-tail, and tells VCP's senders whether the load is low, high or too high.",
        source: "Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005",
        fields: VCP,
    },
    Discipline {
        kind: "xcp",
        title: "XCP router",
        description: "Drop-tail, and grants XCP's senders changes of their throughput.",
        source: "Katabi, Handley and Rohrs, SIGCOMM 2002; draft-falk-xcp-spec-03; ns-2",
        fields: XCP,
    },
];

pub(crate) const QUEUE: Kind = Kind::Tagged(&KINDS);

const KINDS: [(&str, &[Key]); DISCIPLINES.len()] = {
    let mut kinds: [(&str, &[Key]); DISCIPLINES.len()] = [("", &[]); DISCIPLINES.len()];
    let mut index = 0;
    while index < kinds.len() {
        kinds[index] = (DISCIPLINES[index].kind, DISCIPLINES[index].fields);
        index += 1;
    }
    kinds
};

/// Defaults that all profiles share.
pub(crate) const SHARED_QUEUES: &[Key] = &[
    required("codel", Kind::Table(CODEL), "CoDel."),
    required("fq-codel", Kind::Table(FQ_CODEL), "FQ-CoDel."),
    required("pie", Kind::Table(PIE), "PIE."),
    required("pi", Kind::Table(PI), "PI."),
    required("rem", Kind::Table(REM), "REM."),
    required("decbit", Kind::Table(DECBIT), "DECbit."),
    required("round-robin", Kind::Table(ROUND_ROBIN), "Round robin."),
    required("drr", Kind::Table(DRR), "Deficit round robin."),
    required("vcp", Kind::Table(VCP), "VCP's router."),
    required("xcp", Kind::Table(XCP), "XCP's router."),
];
