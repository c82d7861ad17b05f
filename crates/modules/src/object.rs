//! A loaded object. This file is the only one that calls the functions of modules.
//!
//! Modules keep parameters, derived constants and sometimes state in global variables. The loader
//! shares an object that is loaded twice from one file, so each [`Object`] is loaded from a private
//! copy. Calls change the variables, so a lock ensures that one thread at a time uses an `Object`.
//! The lock is never contended.

#![allow(
    unsafe_code,
    reason = "an object is native code: each block says what it relies on"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::{CStr, CString};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use crate::description::{Description, Kind, Parameter, Value};
use crate::interface::{Decision, Facts, INTERFACE, RawParameter, Sock, Table, Traits};
use crate::library::Library;

/// A loaded object with its parameters set.
#[derive(Debug)]
pub(crate) struct Object {
    table: Pointer<Table>,
    traits: Traits,
    /// Lock held while the module is called, since its flows must call one after the other.
    calls: Mutex<()>,
    /// The library of the object. As the last field, it is unloaded after the others are dropped.
    _library: Library,
}

/// A pointer to a `T` in an object that stays loaded.
#[derive(Debug)]
struct Pointer<T>(NonNull<T>);

// SAFETY: the table is constant, and its functions change state only under the lock of `Object`.
unsafe impl Send for Pointer<Table> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Pointer<Table> {}

impl Object {
    /// Loads a private copy of the object, sets its parameters, and runs the module's
    /// initialisation, which registers a congestion control.
    pub(crate) fn load(
        contents: &[u8],
        given: &[(String, Value)],
    ) -> Result<(Self, Description), String> {
        let library = Library::open_copy(contents)?;
        let symbol = library.symbol(c"longhaul_module");
        let symbol = symbol.ok_or("it is no module that `longhaul module build` has built")?;
        let table = Pointer(symbol.cast::<Table>());
        // SAFETY: objects export the table under this name, and every version of the table starts
        // with its version.
        let head = unsafe { table.0.as_ref() };
        check_version(head)?;
        let parameters = parameters(head);
        for (name, value) in given {
            set(&parameters, name, value)?;
        }
        // SAFETY: the function takes the declared arguments; it is called once, before all others.
        let error = unsafe { (head.load)() };
        if error != 0 {
            return Err(format!("its module_init returned error {error}"));
        }
        let name = registered(head)?;
        // SAFETY: a registered congestion control exists.
        let traits = Traits(unsafe { (head.choose)() });
        let description = Description {
            name,
            parameters: parameters.into_iter().map(|found| found.0).collect(),
            hz: head.hz,
            traits,
        };
        let object = Self {
            table,
            traits,
            calls: Mutex::new(()),
            _library: library,
        };
        Ok((object, description))
    }

    pub(crate) fn traits(&self) -> Traits {
        self.traits
    }

    fn table(&self) -> &Table {
        // SAFETY: the object stays loaded as long as `self`.
        unsafe { self.table.0.as_ref() }
    }
}

/// Refuses an object that was built against another version of the module interface.
fn check_version(head: &Table) -> Result<(), String> {
    let facts_bytes = size_of::<Facts>() as u32;
    if (head.interface, head.facts_bytes) == (INTERFACE, facts_bytes) {
        return Ok(());
    }
    Err(format!(
        "it was built against version {} of the headers, this is version {INTERFACE}; build it again with \
         `longhaul module build`",
        head.interface
    ))
}

/// A parameter, with its entry in the compiled module's list of parameters.
struct Found(Parameter, *const RawParameter);

fn parameters(table: &Table) -> Vec<Found> {
    let mut found = Vec::new();
    // SAFETY: the list and its texts are static data of the object.
    unsafe {
        let mut next = (table.parameters)();
        while let Some(raw) = next.as_ref() {
            let text = |text| CStr::from_ptr(text).to_string_lossy().into_owned();
            if let Some(kind) = Kind::named(&text(raw.kind), raw.bytes) {
                let parameter = Parameter {
                    name: text(raw.name),
                    default: read(kind, raw),
                    kind,
                };
                found.push(Found(parameter, raw));
            }
            next = raw.next;
        }
    }
    found.reverse();
    found
}

/// Returns the current value of a parameter in the object.
///
/// # Safety
///
/// The variable of `raw` must have the C type `kind`. The object's compiler has checked its size.
unsafe fn read(kind: Kind, raw: &RawParameter) -> Value {
    let mut bytes = [0; 8];
    // SAFETY: the variable has `kind.bytes` bytes, at most eight.
    unsafe {
        std::ptr::copy_nonoverlapping(raw.value.cast::<u8>(), bytes.as_mut_ptr(), kind.bytes);
    }
    kind.value(bytes)
}

fn set(parameters: &[Found], name: &str, value: &Value) -> Result<(), String> {
    let known = || parameters.iter().map(|Found(parameter, _)| parameter);
    let place = known().position(|parameter| parameter.name == name);
    let place = place.ok_or_else(|| crate::description::unknown(name, known()))?;
    let Found(parameter, raw) = &parameters[place];
    let bytes = parameter
        .kind
        .bytes_of(value)
        .map_err(|allowed| format!("expected `{name}` to be {allowed}, found {value}"))?;
    // SAFETY: the parameter is static data of the object, and no other code uses it before the
    // module is initialised.
    unsafe {
        let raw = raw.as_ref().expect("a parameter of the list");
        if let Some(set) = raw.set {
            let text = CString::new(value.to_string()).expect("a number has no NUL");
            if set(text.as_ptr()) != 0 {
                return Err(format!("the module refuses `{name}` = {value}"));
            }
        } else {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), raw.value.cast(), parameter.kind.bytes);
        }
    }
    Ok(())
}

/// Returns the name of the congestion control that the object has registered; it must be exactly
/// one.
fn registered(table: &Table) -> Result<String, String> {
    let names: Vec<String> = (0..)
        .map_while(|index| {
            // SAFETY: names are static texts of the object; null follows the last.
            unsafe {
                let name = (table.registered)(index);
                (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
            }
        })
        .collect();
    match &names[..] {
        [name] => Ok(name.clone()),
        [] => Err("it registers no congestion control: expected a call of \
                   tcp_register_congestion_control in the function of module_init"
            .to_string()),
        [first, ..] => Err(format!(
            "it registers {}: choose one with `longhaul module build --name {first}`",
            names.join(" and ")
        )),
    }
}

/// State of a connection whose algorithm is in a loaded object. The object determines the state's size and layout.
#[derive(Debug)]
pub(crate) struct Connection {
    object: Arc<Object>,
    sock: NonNull<Sock>,
}

// SAFETY: only this pointer leads to the state.
unsafe impl Send for Connection {}

impl Connection {
    /// Starts a connection, and returns it with the module's first decision. `seed` determines the
    /// connection's random numbers.
    pub(crate) fn start(object: Arc<Object>, facts: &Facts, seed: u64) -> (Self, Decision) {
        let layout = Self::layout(&object);
        // SAFETY: the size of the layout is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        let sock = NonNull::new(memory.cast()).unwrap_or_else(|| handle_alloc_error(layout));
        let mut connection = Self { object, sock };
        let decision = connection.call(|table, sock, decision| {
            // SAFETY: see `call`.
            unsafe { (table.start)(sock, facts, seed, decision) }
        });
        (connection, decision)
    }

    pub(crate) fn ack(&mut self, facts: &Facts) -> Decision {
        // SAFETY: see `call`.
        self.call(|table, sock, decision| unsafe { (table.ack)(sock, facts, decision) })
    }

    pub(crate) fn reduce(&mut self, facts: &Facts, cause: u32) -> Decision {
        // SAFETY: see `call`.
        self.call(|table, sock, decision| unsafe { (table.reduce)(sock, facts, cause, decision) })
    }

    pub(crate) fn timeout(&mut self, facts: &Facts, keeps_ssthresh: bool) -> Decision {
        let keeps = u32::from(keeps_ssthresh);
        // SAFETY: see `call`.
        self.call(|table, sock, decision| unsafe { (table.timeout)(sock, facts, keeps, decision) })
    }

    pub(crate) fn recovered(&mut self, facts: &Facts) -> Decision {
        // SAFETY: see `call`.
        self.call(|table, sock, decision| unsafe { (table.recovered)(sock, facts, decision) })
    }

    pub(crate) fn undo(&mut self, facts: &Facts) -> Decision {
        // SAFETY: see `call`.
        self.call(|table, sock, decision| unsafe { (table.undo)(sock, facts, decision) })
    }

    pub(crate) fn restart(&mut self, facts: &Facts) -> Decision {
        // SAFETY: see `call`.
        self.call(|table, sock, decision| unsafe { (table.restart)(sock, facts, decision) })
    }

    /// Calls `act`, which calls a function of the module for the connection, and returns the decision.
    /// A lock prevents other calls meanwhile, and the facts that `act` passes remain valid until the function returns.
    /// Undefined behaviour inside the module is the user's responsibility.
    fn call(&mut self, act: impl FnOnce(&Table, *mut Sock, *mut Decision)) -> Decision {
        let mut decision = Decision::default();
        let _calls = self
            .object
            .calls
            .lock()
            .expect("no thread panics while it holds the lock");
        act(self.object.table(), self.sock.as_ptr(), &mut decision);
        decision
    }

    fn layout(object: &Object) -> Layout {
        let bytes = object.table().sock_bytes as usize;
        Layout::from_size_align(bytes.max(1), 64).expect("a struct of some kilobytes")
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.call(|table, sock, _| {
            // SAFETY: see `call`; the state is not used afterwards.
            unsafe { (table.release)(sock) }
        });
        // SAFETY: the state was allocated with this layout.
        unsafe { dealloc(self.sock.as_ptr().cast(), Self::layout(&self.object)) }
    }
}
