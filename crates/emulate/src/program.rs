//! Programs in hosts, and how they ended.

/// A program to run in a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Number of the host.
    pub host: usize,
    /// Program and arguments, at least one.
    pub arguments: Vec<String>,
    /// True if the emulation ends with the program, which reads from the terminal; it begins when the others listen.
    pub is_in_foreground: bool,
}

impl Program {
    pub(crate) fn name(&self) -> String {
        format!("`{}`", self.arguments.join(" "))
    }
}

/// A program that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedProgram {
    /// The program.
    pub program: Program,
    /// Its exit code; 128 and the signal's number if a signal has ended it.
    pub code: i32,
    /// True if it was asked to end, as the emulation was over.
    pub was_asked: bool,
}
