//! Configuration of a simulation.

/// A queue with first-in first-out service and drop-tail.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// Packets per second.
    pub capacity: f64,
    /// Packets that wait at most.
    pub buffer: f64,
}

/// A queue on the way of a flow's packets.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// Position of the queue in [`Config::queues`].
    pub queue: usize,
    /// True if data passes there, false for acknowledgements: each takes one packet's service, and
    /// only a drop of data is a loss, since acknowledgements are cumulative.
    pub data: bool,
}

/// A long-lived flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Round-trip time without queueing, in seconds.
    pub rtt: f64,
    /// Largest number of packets per second that its host sends.
    pub host_rate: f64,
    /// Start of the flow, in seconds.
    pub start: f64,
    /// Packets that congestion avoidance adds per round trip; 1 in standard TCP.
    pub increase: f64,
    /// Fraction of the window that a loss event removes; one half in standard TCP.
    pub decrease: f64,
    /// The queues on its way there and back, in order.
    pub visits: Vec<Visit>,
}

/// A network, its flows, and how they are followed.
#[derive(Clone, Debug)]
pub struct Config {
    /// Queues that flows visit.
    pub queues: Vec<Queue>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// Seconds per step; 1 ms is enough for round trips from 10 ms on.
    pub step: f64,
    /// Steps over which measurements are averaged.
    pub steps_per_interval: u64,
    /// Window to start with, in packets.
    pub initial_window: f64,
    /// Slow start threshold to start with, in packets.
    pub initial_ssthresh: f64,
    /// Window from which slow start adds half of it per round trip (RFC 3742).
    pub max_ssthresh: f64,
    /// Choice among the equally likely sequences of drops.
    pub seed: u64,
}

/// Reason why a configuration cannot be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// Something must be a number greater than zero.
    NotPositive(&'static str),
    /// The flow of this number visits a queue that does not exist.
    NoSuchQueue(usize),
    /// The flow of this number removes all or nothing of its window.
    Decrease(usize),
}

impl std::fmt::Display for SetupError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotPositive(what) => write!(out, "{what} must be greater than 0"),
            Self::NoSuchQueue(flow) => {
                write!(out, "flow {flow} visits a queue that does not exist")
            }
            Self::Decrease(flow) => {
                write!(out, "flow {flow}: a decrease is between 0 and 1, exclusive")
            }
        }
    }
}

impl std::error::Error for SetupError {}

impl Config {
    /// Refuses configurations that cannot be simulated.
    pub fn check(&self) -> Result<(), SetupError> {
        let positive = |value: f64, what| {
            let fine = value > 0.0 && value.is_finite();
            if fine {
                Ok(())
            } else {
                Err(SetupError::NotPositive(what))
            }
        };
        positive(self.step, "step")?;
        positive(self.steps_per_interval as f64, "steps per interval")?;
        positive(self.initial_window, "initial window")?;
        positive(self.initial_ssthresh, "initial slow start threshold")?;
        positive(self.max_ssthresh, "max_ssthresh")?;
        for queue in &self.queues {
            positive(queue.capacity, "capacity")?;
            positive(queue.buffer, "buffer")?;
        }
        for (number, flow) in self.flows.iter().enumerate() {
            positive(flow.rtt, "round-trip time")?;
            positive(flow.host_rate, "host rate")?;
            positive(flow.increase, "increase")?;
            if !(flow.decrease > 0.0 && flow.decrease < 1.0) {
                return Err(SetupError::Decrease(number));
            }
            if flow
                .visits
                .iter()
                .any(|visit| visit.queue >= self.queues.len())
            {
                return Err(SetupError::NoSuchQueue(number));
            }
        }
        Ok(())
    }

    /// Returns true for each queue that all flows at the rates of their hosts overload. The others
    /// are always empty, and need not be followed.
    pub(crate) fn overloadable(&self) -> Vec<bool> {
        let mut offered = vec![0.0; self.queues.len()];
        for flow in &self.flows {
            for visit in &flow.visits {
                offered[visit.queue] += flow.host_rate;
            }
        }
        let queues = self.queues.iter();
        queues
            .zip(offered)
            .map(|(queue, offered)| offered > queue.capacity)
            .collect()
    }
}
