//! To be written.
use crate::controller::CongestionControl;
use crate::facts::{AckSample, Congestion};
use crate::window::Window;
/// To be written.
#[derive(Debug)]
pub struct Hstcp;
impl CongestionControl for Hstcp {
    fn on_ack(&mut self, _: &AckSample, _: &mut Window) {}
    fn on_congestion(&mut self, _: &Congestion, _: &mut Window) {}
}
