//! Files that scenarios are read from, or name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Maximum size of a file, more than any scenario, table or class needs.
const MAX_BYTES: u64 = 256 << 20;

/// The text of a file. Devices and pipes, which may never end, and files that are too large are refused.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let refuse = |reason: &str| format!("cannot read {}: {reason}", path.display());
    let io = |error: std::io::Error| refuse(&error.to_string());
    // Checked before it is opened: opening a pipe waits for a writer.
    let metadata = std::fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        return Err(refuse("it is a directory"));
    }
    if !metadata.is_file() {
        return Err(refuse("it is not a regular file"));
    }
    let file = File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    // Files in /proc and the like have no size before they are read.
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse("it has more than 256 MiB"));
    }
    // A byte order mark, which some editors and spreadsheets write, is no part of the text.
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_refused() {
        let refused = |path: &str| read_text(Path::new(path)).unwrap_err();
        assert!(refused("/nowhere").starts_with("cannot read /nowhere: "));
        assert!(refused("/").contains("directory"));
        if cfg!(unix) {
            assert!(refused("/dev/zero").contains("not a regular file"));
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let path = std::env::temp_dir().join(format!("longhaul-marked-{}", std::process::id()));
        std::fs::write(&path, "\u{feff}at, rate\n").unwrap();
        let text = read_text(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.unwrap(), "at, rate\n");
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let path = std::env::temp_dir().join(format!("longhaul-large-{}", std::process::id()));
        // A sparse file.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let refused = read_text(&path);
        std::fs::remove_file(&path).unwrap();
        assert!(refused.unwrap_err().contains("more than 256 MiB"));
    }
}
