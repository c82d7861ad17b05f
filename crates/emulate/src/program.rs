//! Programs in hosts, and their exit codes.

/// A program to run in a host of an emulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Index of the host in `Setup::hosts`.
    pub host: usize,
    /// Name of the program and its arguments; never empty.
    pub arguments: Vec<String>,
    /// True for the program in the foreground. It starts when the hosts of the other programs have
    /// listening TCP sockets, or after a second, and reads from the terminal. The emulation ends
    /// after this program.
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
    /// Exit code, or 128 plus the number of the signal that ended the program; -1 if the emulation
    /// had to end it with SIGKILL, or if the status is unknown.
    pub code: i32,
    /// True if the program was requested to end, because the emulation was over.
    pub was_asked: bool,
}
