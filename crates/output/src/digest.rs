//! Files with a SHA-256 for run.json, computed while they are written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};

/// The SHA-256 of each file in a directory, by the name of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Digests(Arc<Mutex<BTreeMap<String, String>>>);

impl Digests {
    /// Returns the SHA-256 digests of all files completed so far, by file name.
    pub(crate) fn all(&self) -> BTreeMap<String, String> {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .clone()
    }

    fn insert(&self, path: &Path, digest: String) {
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let mut all = self
            .0
            .lock()
            .expect("no thread panics while it holds the lock");
        all.insert(name, digest);
    }
}

/// A file to be written, and the list that will contain its SHA-256.
#[derive(Clone, Debug)]
pub(crate) struct NewFile {
    pub(crate) path: PathBuf,
    digests: Digests,
}

impl NewFile {
    pub(crate) fn new(path: PathBuf, digests: Digests) -> Self {
        Self { path, digests }
    }

    /// Returns the file with another path.
    pub(crate) fn renamed(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    pub(crate) fn create(&self) -> io::Result<DigestedFile> {
        Ok(DigestedFile {
            file: File::create(&self.path)?,
            digest: Sha256::new(),
            digests: self.digests.clone(),
        })
    }
}

#[cfg(test)]
impl From<PathBuf> for NewFile {
    fn from(path: PathBuf) -> Self {
        Self::new(path, Digests::default())
    }
}

/// A file that is written from beginning to end, while its SHA-256 is computed.
#[derive(Debug)]
pub(crate) struct DigestedFile {
    file: File,
    digest: Sha256,
    digests: Digests,
}

impl DigestedFile {
    pub(crate) fn inner(&self) -> &File {
        &self.file
    }

    /// Waits until all data is on disk, and adds the file's SHA-256 to the digests of its
    /// directory, under the file name in `path`.
    pub(crate) fn finish(self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        self.digests.insert(path, hexadecimal(self.digest));
        Ok(())
    }
}

impl Write for DigestedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

pub(crate) fn of_text(text: &str) -> String {
    hexadecimal(Sha256::new_with_prefix(text))
}

fn hexadecimal(digest: Sha256) -> String {
    let mut text = String::new();
    for byte in digest.finalize() {
        write!(text, "{byte:02x}").expect("texts take everything");
    }
    text
}
