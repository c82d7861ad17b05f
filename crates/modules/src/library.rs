//! Shared objects, which the system's loader loads.

#![allow(
    unsafe_code,
    reason = "the system's loader has an interface of C; each block says what it relies on"
)]

use std::ffi::CStr;
use std::ptr::NonNull;

/// A shared object that stays loaded until it is dropped.
#[derive(Debug)]
pub(crate) struct Library(NonNull<std::ffi::c_void>);

/// Processors: their names in Rust, and their numbers in the header of an ELF file.
#[cfg(unix)]
const PROCESSORS: [(&str, u16); 6] = [
    ("x86_64", 62),
    ("aarch64", 183),
    ("riscv64", 243),
    ("x86", 3),
    ("arm", 40),
    ("loongarch64", 258),
];

/// Refuses an ELF file for another one of [`PROCESSORS`]. glibc's loader would report that there is
/// no such file. All other contents are left to the loader.
#[cfg(unix)]
fn check_processor(contents: &[u8]) -> Result<(), String> {
    let own = std::env::consts::ARCH;
    let Some((b"\x7fELF", &[low, high])) = contents.get(..4).zip(contents.get(18..20)) else {
        return Ok(());
    };
    let machine = u16::from_le_bytes([low, high]);
    match PROCESSORS.iter().find(|(_, number)| *number == machine) {
        Some((name, _)) if *name != own => Err(format!(
            "it is for another processor, {name} (this is {own}); build it here with `longhaul module build`"
        )),
        _ => Ok(()),
    }
}

// SAFETY: the handle is used only to look up symbols and to close the object, which the loader
// synchronises.
unsafe impl Send for Library {}
// SAFETY: as for `Send`.
unsafe impl Sync for Library {}

#[cfg(unix)]
mod system {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    static COPIES: AtomicU64 = AtomicU64::new(0);

    impl Library {
        /// Loads a private copy of an object with these contents. No other library shares its
        /// variables.
        pub(crate) fn open_copy(contents: &[u8]) -> Result<Self, String> {
            check_processor(contents)?;
            let number = COPIES.fetch_add(1, Ordering::Relaxed);
            let name = format!("longhaul-module-{}-{number}.so", std::process::id());
            let copy = std::env::temp_dir().join(name);
            std::fs::write(&copy, contents)
                .map_err(|error| format!("cannot copy it to {}: {error}", copy.display()))?;
            let opened = Self::open(&copy);
            let _ = std::fs::remove_file(&copy);
            opened.map_err(|error| {
                // The name of the temporary copy would mean nothing to the user.
                let error = error.replace(&copy.display().to_string(), "the object");
                format!("it is not for this processor or system ({error}); build it here with `longhaul module build`")
            })
        }

        fn open(path: &Path) -> Result<Self, String> {
            let text =
                CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
            // SAFETY: the path is a valid C string. The user is responsible for functions that run
            // when the object is loaded.
            let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            NonNull::new(handle).map(Self).ok_or_else(|| {
                // SAFETY: after a failure `dlerror` returns a text, which belongs to this thread.
                unsafe { CStr::from_ptr(libc::dlerror()) }
                    .to_string_lossy()
                    .into_owned()
            })
        }

        /// Returns the address of a symbol; `None` if the object does not export it.
        pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<std::ffi::c_void>> {
            // SAFETY: the handle is open.
            NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
        }
    }

    impl Drop for Library {
        fn drop(&mut self) {
            // SAFETY: the handle is open, and nothing of the object is used after its owner was
            // dropped.
            unsafe {
                libc::dlclose(self.0.as_ptr());
            }
        }
    }
}

#[cfg(not(unix))]
impl Library {
    /// Returns an error: modules are supported on Unix only.
    pub(crate) fn open_copy(_: &[u8]) -> Result<Self, String> {
        Err("modules of Linux run on Unix only".to_string())
    }

    /// Returns `None`, since there is no object.
    pub(crate) fn symbol(&self, _: &CStr) -> Option<NonNull<std::ffi::c_void>> {
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn an_elf_file_for_another_processor_is_refused_by_its_name() {
        let own = std::env::consts::ARCH;
        let header = |number: u16| {
            let mut contents = [0; 64];
            contents[..4].copy_from_slice(b"\x7fELF");
            contents[18..20].copy_from_slice(&number.to_le_bytes());
            contents
        };
        for (name, number) in PROCESSORS {
            match check_processor(&header(number)) {
                Ok(()) => assert_eq!(name, own),
                Err(message) => assert!(message.contains(&format!("another processor, {name} ("))),
            }
        }
        assert_eq!(check_processor(b"a text that is no object"), Ok(()));
        assert_eq!(check_processor(b"\x7fELF"), Ok(()));
    }
}
