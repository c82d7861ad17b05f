//! All congestion control algorithms. A new algorithm needs a file in this folder and a line in the list of
//! `controllers!`.

use longhaul_units::{Rate, Span, Time};

use crate::congestion_control::{CongestionControl, Phases};
use crate::controller::controllers;
use crate::entry::Entry;
use crate::extension::Extension;
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::window::Window;

// The list of algorithms (module and type), in the order of `longhaul list algorithms`. Each module contains the type
// and the static `ENTRY` that declares and builds it.
controllers! {
    reno::Reno,
    hstcp::Hstcp,
    scalable::Scalable,
    htcp::Htcp,
    bic::Bic,
    cubic::Cubic,
    ghstcp::Ghstcp,
    ctcp::Ctcp,
    ctcp_nist::CtcpNist,
    fast::Fast,
    fast_at::FastAt,
    vegas::Vegas,
    veno::Veno,
    illinois::Illinois,
    gaimd::Gaimd,
    binomial::Binomial,
    constant_rate::ConstantRate,
    increase_by_k::IncreaseByK,
    westwood::Westwood,
    yeah::Yeah,
    hybla::Hybla,
    lp::Lp,
    ledbat::Ledbat,
    ledbat_plus_plus::BoxedLedbatPlusPlus,
    copa::BoxedCopa,
    vivace::BoxedVivace,
    dctcp::Dctcp,
    prague::Prague,
    multcp::MulTcp,
    bbr::Bbr,
    bbr3::BoxedBbr3,
    c4::BoxedC4,
    sync_pcwnd::SyncPcwnd,
    sync_mixreact::SyncMixReact,
    sync::SyncTcp,
    santa_cruz::SantaCruz,
    peach::Peach,
    decbit::DecBit,
    delay_gradient::DelayGradient,
    packet_pair::PacketPair,
    xcp::Xcp,
    vcp::Vcp,
    table::TableDriven,
}

impl CongestionControl for Controller {
    #[inline]
    fn increment(&mut self, credit: f64, cwnd: f64) -> Option<f64> {
        dispatch!(self, algorithm => algorithm.increment(credit, cwnd))
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.on_ack(ack, phase, window));
    }

    #[inline]
    fn phases(&self) -> Phases {
        dispatch!(self, algorithm => algorithm.phases())
    }

    fn on_handshake(&mut self, ack: &AckSample, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.on_handshake(ack, window));
    }

    fn first_window(&mut self, initial: f64) -> f64 {
        dispatch!(self, algorithm => algorithm.first_window(initial))
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.on_congestion(event, window));
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.on_timeout(event, window));
    }

    fn on_recovery_exit(&mut self, now: Time, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.on_recovery_exit(now, window));
    }

    fn departs_from_standard(&self, now: Time, window: &Window) -> bool {
        dispatch!(self, algorithm => algorithm.departs_from_standard(now, window))
    }

    fn on_idle(&mut self, idle: &Idle, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.on_idle(idle, window));
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        dispatch!(self, algorithm => algorithm.extension())
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        dispatch!(self, algorithm => algorithm.pacing_rate())
    }

    #[inline]
    fn send_quantum(&self) -> u64 {
        dispatch!(self, algorithm => algorithm.send_quantum())
    }

    fn needs(&self) -> Needs {
        dispatch!(self, algorithm => algorithm.needs())
    }

    fn response(&self, loss: f64, rtt: Span) -> Option<f64> {
        dispatch!(self, algorithm => algorithm.response(loss, rtt))
    }

    fn probe(&self, window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        dispatch!(self, algorithm => algorithm.probe(window, out));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::MODULES;

    /// Checks that every file and subfolder here has a line in `MODULES`. The compiler would not notice a missing line.
    #[test]
    fn every_file_is_in_the_list() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/algorithms");
        let files: BTreeSet<String> = fs::read_dir(here)
            .expect("the directory of this file")
            .map(|file| file.expect("a file").path())
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
            .filter(|name| name != "mod")
            .collect();
        let listed: BTreeSet<String> = MODULES.iter().map(|&name| name.to_string()).collect();
        assert_eq!(files, listed);
    }
}
