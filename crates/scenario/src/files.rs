//! Scenario files, and files that scenarios name.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use longhaul_keys::Field;

use crate::document::{Node, Origin, Table, Value};
use crate::error::Diagnostic;

/// Maximum size of a file in bytes, more than any scenario, table or class needs.
const MAX_BYTES: u64 = 256 << 20;

const NO_SUCH_FILE: &str = "no such file";

/// Reads the text of a file. The error is a message.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let mut bytes = read_bytes(path)?;
    // A byte order mark, which some editors and spreadsheets write, is not part of the text.
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes)
        .map_err(|_| format!("cannot read {}: it is not UTF-8 text", path.display()))
}

/// Reads the contents of a file. Devices and pipes, which may never end, and files of more than
/// [`MAX_BYTES`] are refused with a message.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let refuse = |reason: &str| format!("cannot read {}: {reason}", path.display());
    let io = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => refuse(NO_SUCH_FILE),
        _ => refuse(&error.to_string()),
    };
    // This is checked before the file is opened, since opening a pipe waits for a writer.
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
    Ok(bytes)
}

/// Refuses a table that has both the name of a file and the text of the file, since neither takes
/// precedence. An override of the file's name in a resolved scenario makes such a table.
pub(crate) fn refuse_both<T>(
    table: &Table,
    file: Field<Option<String>>,
    text: Field<T>,
    path: &str,
) -> Result<(), Diagnostic> {
    if !table.has(file) || !table.has(text) {
        return Ok(());
    }
    let message = format!(
        "there is {text}, too, which resolved scenarios have instead of a file; give one of both, \
         or set the whole table"
    );
    Err(Diagnostic::at(table, file, path, message))
}

/// Replaces the name of a file in a table by the file's text, and stores the name, without its
/// directory, under a separate key. The scenario's hash then covers the text, and the resolved
/// scenario runs without the file.
pub(crate) fn replace_file<T, U>(
    table: &mut Table,
    file: &Node,
    (file_key, text_key, name_key): (Field<Option<String>>, Field<T>, Field<U>),
) -> Result<(), String> {
    let name = file.word().to_string();
    let text = read_text(&relative_to(&file.origin, &name))?;
    table.derive(text_key, Value::Text(text), format!("the text of {name}"));
    let short = Path::new(&name).file_name();
    let short = short.map_or(name.clone(), |short| short.display().to_string());
    table.remove(file_key);
    table.insert(name_key, Node::text(&short, file.origin.clone()));
    Ok(())
}

/// Returns the path of `file`, which is relative to the scenario file that names it or, if an
/// override names it, to the current directory.
pub(crate) fn relative_to(origin: &Origin, file: &str) -> PathBuf {
    let directory = match origin {
        Origin::File(source, _) => Path::new(&source.name).parent(),
        _ => None,
    };
    directory.unwrap_or(Path::new("")).join(file)
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
        // This is a sparse file.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let refused = read_text(&path);
        std::fs::remove_file(&path).unwrap();
        assert!(refused.unwrap_err().contains("more than 256 MiB"));
    }
}
