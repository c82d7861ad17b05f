//! Configuration of a simulation with the hybrid model.

/// A drop-tail queue with first-in first-out service.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// Service rate in packets per second.
    pub capacity: f64,
    /// Maximum number of packets in the buffer.
    pub buffer: f64,
}

/// A passage of a flow's data packets or acknowledgements through a queue.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// Index of the queue in [`Config::queues`].
    pub queue: usize,
    /// True if the flow's data passes the queue, false if its acknowledgements do. An
    /// acknowledgement takes as much service as a data packet, but only the drop of a data packet
    /// is a loss, since acknowledgements are cumulative.
    pub data: bool,
}

/// A long-lived flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Base round-trip time without queueing, in seconds.
    pub rtt: f64,
    /// Maximum sending rate of the flow's host, in packets per second.
    pub host_rate: f64,
    /// Start time of the flow, in seconds.
    pub start: f64,
    /// Increase of the window per round trip in congestion avoidance, in packets; 1 in standard
    /// TCP.
    pub increase: f64,
    /// Fraction of the window that a loss event removes; one half in standard TCP.
    pub decrease: f64,
    /// Queues on the flow's path in order: first those that data pass, then those that acknowledgements pass.
    pub visits: Vec<Visit>,
}

/// A network of queues, its flows, and the parameters of the model.
#[derive(Clone, Debug)]
pub struct Config {
    /// The queues of the network.
    pub queues: Vec<Queue>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// Length of a time step in seconds; 1 ms is short enough for round trips of 10 ms or more.
    pub step: f64,
    /// Number of steps per interval. Measurements are averages over an interval.
    pub steps_per_interval: u64,
    /// Initial window in packets.
    pub initial_window: f64,
    /// Initial slow start threshold in packets.
    pub initial_ssthresh: f64,
    /// Threshold of limited slow start, in packets. Above it, slow start adds half of this value
    /// per round trip (RFC 3742).
    pub max_ssthresh: f64,
    /// Seed of the random numbers that decide which flows lose packets.
    pub seed: u64,
}

/// Reason why a configuration cannot be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// The named value is not a finite number greater than zero.
    NotPositive(&'static str),
    /// The flow with this index visits a queue that does not exist.
    NoSuchQueue(usize),
    /// The flow with this index has a `decrease` that is not between 0 and 1, exclusive.
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
    /// Checks that the configuration can be simulated.
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

    /// Returns, for each queue, true if the sum of the `host_rate` of its flows exceeds its capacity.
    /// All other queues are taken to be empty always, and are not simulated.
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
