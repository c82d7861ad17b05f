//! Every algorithm with its parameters, defaults, units and sources.

/// Documented differences between implementations of one algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// As its paper or RFC has it.
    #[default]
    Paper,
    /// As ns-2 has it.
    Ns2,
    /// As Linux has it.
    Linux,
    /// As NIST's MesoNet has it.
    Nist,
}

/// An algorithm chosen by name, with the parameters that differ from their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerSpec {
    /// Name in the registry, for example `hstcp`.
    pub kind: String,
    /// Which implementation's details to follow.
    pub variant: Variant,
    /// Parameter names and values, in the registry's units.
    pub parameters: Vec<(String, f64)>,
}
