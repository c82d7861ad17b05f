//! Structs that this crate and the compiled kernel modules (objects) exchange. Their C declarations
//! are in `python/longhaul/modules/kernel/interface.h`.

use std::ffi::{c_char, c_int, c_void};

/// Version of the layouts of the structs in this file, `LONGHAUL_INTERFACE` in C.
pub(crate) const INTERFACE: u32 = 1;

/// Slow start threshold that means no threshold (`TCP_INFINITE_SSTHRESH`).
pub(crate) const INFINITE: u32 = 0x7fff_ffff;

/// Facts about a connection, which a module's functions get as an argument. Windows and counts are
/// in segments; counts wrap around.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Facts {
    pub(crate) now_ns: u64,
    pub(crate) rtt_us: i64,
    pub(crate) rate_segments: i64,
    pub(crate) rate_interval_us: i64,
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    pub(crate) una: u32,
    pub(crate) packets_out: u32,
    pub(crate) sacked_out: u32,
    pub(crate) prior_in_flight: u32,
    pub(crate) delivered: u32,
    pub(crate) delivered_ce: u32,
    pub(crate) lost: u32,
    pub(crate) acked: u32,
    pub(crate) acked_sacked: u32,
    pub(crate) losses: u32,
    pub(crate) marks: u32,
    pub(crate) srtt_us: u32,
    pub(crate) min_rtt_us: u32,
    pub(crate) mss: u32,
    pub(crate) flags: u32,
}

pub(crate) const MAY_GROW: u32 = 1;
pub(crate) const CWND_LIMITED: u32 = 2;
pub(crate) const APP_LIMITED: u32 = 4;
pub(crate) const ECE: u32 = 8;
pub(crate) const COMPLETES: u32 = 16;

/// Decision that a module makes in a call.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Decision {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    /// Pacing rate in payload bytes per second; zero for no pacing.
    pub(crate) pacing_bytes_per_s: u64,
    pub(crate) burst_segments: u32,
}

pub(crate) const LOSS: u32 = 0;
pub(crate) const MARK: u32 = 1;

/// A parameter of a compiled module, as an entry of the module's linked list.
#[repr(C)]
pub(crate) struct RawParameter {
    pub(crate) name: *const c_char,
    pub(crate) kind: *const c_char,
    pub(crate) bytes: usize,
    pub(crate) value: *mut c_void,
    pub(crate) set: Option<unsafe extern "C" fn(*const c_char) -> c_int>,
    pub(crate) next: *mut RawParameter,
}

/// State of a connection (`struct sock`). Only the object knows its layout.
#[repr(C)]
pub(crate) struct Sock {
    _opaque: [u8; 0],
}

type Call = unsafe extern "C" fn(*mut Sock, *const Facts, *mut Decision);
type CallWith<T> = unsafe extern "C" fn(*mut Sock, *const Facts, T, *mut Decision);

/// The table that an object exports as `longhaul_module`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Table {
    pub(crate) interface: u32,
    pub(crate) facts_bytes: u32,
    pub(crate) hz: u32,
    pub(crate) sock_bytes: u32,
    pub(crate) parameters: unsafe extern "C" fn() -> *mut RawParameter,
    pub(crate) load: unsafe extern "C" fn() -> c_int,
    pub(crate) registered: unsafe extern "C" fn(u32) -> *const c_char,
    pub(crate) choose: unsafe extern "C" fn() -> u32,
    pub(crate) start: CallWith<u64>,
    pub(crate) ack: Call,
    pub(crate) reduce: CallWith<u32>,
    pub(crate) timeout: CallWith<u32>,
    pub(crate) recovered: Call,
    pub(crate) undo: Call,
    pub(crate) restart: Call,
    pub(crate) release: unsafe extern "C" fn(*mut Sock),
}

/// Bit set of a module's hooks and needs, with the bits that `interface.h` defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits(pub(crate) u32);

impl Traits {
    pub(crate) const CONG_CONTROL: u32 = 1;
    pub(crate) const RELEASE: u32 = 2;
    pub(crate) const NEEDS_ECN: u32 = 4;
    pub(crate) const NEEDS_L4S: u32 = 8;
    /// Names of hooks, each with its bit.
    pub(crate) const HOOKS: [(u32, &str); 7] = [
        (1024, "cong_avoid"),
        (Self::CONG_CONTROL, "cong_control"),
        (64, "pkts_acked"),
        (128, "in_ack_event"),
        (256, "cwnd_event"),
        (512, "set_state"),
        (Self::RELEASE, "release"),
    ];

    pub(crate) fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }
}
