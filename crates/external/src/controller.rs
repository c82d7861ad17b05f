//! The congestion controller of one flow. Another process makes its decisions.

use std::sync::Arc;

use longhaul_congestion::{
    AckSample, Congestion, CongestionControl, Needs, Phase, Phases, Timeout, Window,
};
use longhaul_units::{Rate, Span, Time};

use crate::Peer;
use crate::answer::Answer;
use crate::connection::{Connection, Problem};
use crate::report::{self, When};

#[derive(Debug)]
pub(crate) struct Controller {
    peer: Arc<Peer>,
    /// Number of the flow in the reports to the external process; `None` before the flow's first report.
    flow: Option<u64>,
    pacing: Option<Rate>,
    untold: Untold,
    /// True if the external controller has failed. It is then not called again, and the run ends.
    failed: bool,
}

/// Summary of the acknowledgements since the last one that was reported. Reports of congestion signals and timeouts do
/// not change it.
#[derive(Clone, Copy, Debug, Default)]
struct Untold {
    acked: u64,
    ecn_echo: bool,
    may_grow: bool,
    rtt: Option<Span>,
    /// Time of the last report of an acknowledgement.
    since: Time,
}

impl Clone for Controller {
    /// Returns the controller of a new flow, with the same external process. The new flow has no
    /// number yet, and nothing to report.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.peer))
    }
}

impl Controller {
    pub(crate) fn new(peer: Arc<Peer>) -> Self {
        Self {
            peer,
            flow: None,
            pacing: None,
            untold: Untold::default(),
            failed: false,
        }
    }

    /// Calls `act` with the connection to the external process, after opening it if needed. After a failure, closes the
    /// connection, and reports the failure to the program that runs the simulation, which should end the run.
    /// [`Problem::Stopped`] is not reported. Does nothing after this flow's first failure.
    fn told(
        &mut self,
        now: Time,
        act: impl FnOnce(&mut Self, &mut Connection) -> Result<(), Problem>,
    ) {
        if self.failed {
            return;
        }
        let peer = Arc::clone(&self.peer);
        let mut slot = peer
            .connection
            .lock()
            .expect("no thread panics while it holds the lock");
        let done = match &mut *slot {
            Some(connection) => act(self, connection),
            None => Connection::open(&peer.address, peer.program)
                .and_then(|connection| act(self, slot.insert(connection))),
        };
        if let Err(problem) = done {
            *slot = None;
            self.failed = true;
            if let Problem::Failed(what) = problem {
                let (address, seconds) = (&peer.address, now.as_secs_f64());
                (peer.program.failed)(format!(
                    "{address}: {what} (at {seconds} s of simulated time)"
                ));
            }
        }
    }

    /// Returns the number of the flow on the connection. If the flow has none yet, assigns the next
    /// number, announces the flow to the external process, and applies the answer to `window`.
    fn number(&mut self, connection: &mut Connection, window: &mut Window) -> Result<u64, Problem> {
        if let Some(flow) = self.flow {
            return Ok(flow);
        }
        let flow = connection.flows;
        connection.flows += 1;
        self.flow = Some(flow);
        report::open(&mut connection.line, flow, window);
        self.answered(connection, window)?;
        Ok(flow)
    }

    /// Sends the report in `connection.line` to the external process, and applies its answer to `window`.
    fn answered(
        &mut self,
        connection: &mut Connection,
        window: &mut Window,
    ) -> Result<(), Problem> {
        let answer = Answer::read(connection.exchange()?).map_err(Problem::Failed)?;
        answer.apply(window, &mut self.pacing);
        Ok(())
    }

    /// Adds an acknowledgement to those that are not reported yet.
    fn add(&mut self, ack: &AckSample, phase: Phase) {
        self.untold.acked += ack.acked;
        self.untold.ecn_echo |= ack.ecn_echo;
        self.untold.may_grow |= phase.may_grow();
        self.untold.rtt = ack.rtt.or(self.untold.rtt);
    }

    fn is_due(&self, when: When, ack: &AckSample) -> bool {
        match when {
            When::Ack => true,
            When::Round => ack.round_start,
            When::Every(span) => ack.now >= self.untold.since + span,
        }
    }
}

impl CongestionControl for Controller {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.told(ack.now, |flow, connection| {
            flow.add(ack, phase);
            // The first event of a flow is always reported, since it announces the flow.
            if flow.flow.is_some() && !flow.is_due(connection.when, ack) {
                return Ok(());
            }
            let number = flow.number(connection, window)?;
            let Untold {
                acked,
                ecn_echo,
                may_grow,
                rtt,
                ..
            } = flow.untold;
            let sample = AckSample {
                acked,
                ecn_echo,
                rtt,
                ..*ack
            };
            let Connection { line, facts, .. } = connection;
            report::ack(line, number, facts, &sample, phase, may_grow, window);
            flow.answered(connection, window)?;
            flow.untold = Untold {
                since: ack.now,
                ..Untold::default()
            };
            Ok(())
        });
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.told(event.now, |flow, connection| {
            let number = flow.number(connection, window)?;
            report::congestion(&mut connection.line, number, event, window);
            flow.answered(connection, window)
        });
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.told(event.now, |flow, connection| {
            let number = flow.number(connection, window)?;
            report::timeout(&mut connection.line, number, event, window);
            flow.answered(connection, window)
        });
    }

    fn needs(&self) -> Needs {
        Needs {
            delivery_rate: true,
            ..Needs::RTT
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }
}
