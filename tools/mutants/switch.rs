use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of the change that is active in this process; zero for none.
static ACTIVE: LazyLock<usize> = LazyLock::new(|| {
    let number = std::env::var("MUTANT").ok();
    number.map_or(0, |text| text.parse().expect("the number of a change"))
});
/// The file for recording reached changes; `None` if they are not recorded.
static REACHED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MUTANTS_REACHED").ok());
static SEEN: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];

/// Returns true if change `number` is active, and records that it was reached.
pub fn mutant(number: usize) -> bool {
    if let Some(path) = &*REACHED
        && !SEEN[number].swap(true, Ordering::Relaxed)
    {
        let mut options = std::fs::OpenOptions::new();
        let file = options.append(true).create(true).open(path);
        writeln!(file.expect("a file"), "{number}").expect("room");
    }
    *ACTIVE == number
}
