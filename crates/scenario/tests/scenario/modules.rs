//! Congestion control from outside: modules of Linux, and controllers in another process. [`Maker`]
//! stands in for the program that makes the modules and controllers.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use longhaul_congestion::{Congestion, CongestionControl, Factory, Window};
use longhaul_scenario::{
    Algorithms, CustomAlgorithm, LinuxModule, MadeModule, ModuleValue, Scenario, load_with,
    parse_with,
};

use crate::{BASE, refusal, value};

#[derive(Clone, Debug)]
struct Still;

impl CongestionControl for Still {
    fn on_congestion(&mut self, _: &Congestion, _: &mut Window) {}
}

impl Factory for Still {
    fn make(&self) -> Box<dyn CongestionControl> {
        Box::new(Self)
    }
}

/// Stub of [`Algorithms`] that makes a Linux module with two parameters, and records each request.
#[derive(Default)]
struct Maker(RefCell<Vec<String>>);

impl Algorithms for Maker {
    fn make(&self, _: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        Err("no Python here".to_string())
    }

    fn module(&self, module: LinuxModule<'_>) -> Result<MadeModule, String> {
        let file = module.file.file_name().unwrap().display().to_string();
        let note = format!("{file} {:?} {:?}", module.object, module.parameters);
        self.0.borrow_mut().push(note);
        let defaults = [
            ("beta", ModuleValue::Whole(717)),
            ("fast", ModuleValue::Flag(true)),
        ];
        Ok(MadeModule {
            factory: Arc::new(Still),
            name: "mine".to_string(),
            defaults: defaults
                .map(|(name, value)| (name.to_string(), value))
                .to_vec(),
        })
    }

    fn external(&self, address: &str) -> Result<Arc<dyn Factory>, String> {
        self.0.borrow_mut().push(address.to_string());
        Ok(Arc::new(Still))
    }
}

fn with_congestion(congestion: &str) -> String {
    BASE.replace("{ kind = \"reno\" }", congestion)
}

/// Directory of a test, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("longhaul-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Loads a scenario with the table `congestion` from a directory whose file `tcp_mine.so` contains `object`.
    /// Returns the scenario, and the requests that [`Maker`] recorded.
    fn load(&self, object: &[u8], congestion: &str) -> (Result<Scenario, String>, Vec<String>) {
        fs::write(self.0.join("tcp_mine.so"), object).unwrap();
        let path = self.0.join("scenario.toml");
        fs::write(&path, with_congestion(congestion)).unwrap();
        let maker = Maker::default();
        let loaded = load_with(&path, &[], &maker).map_err(|error| error.to_string());
        (loaded, maker.0.into_inner())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_module_is_found_beside_the_scenario_and_its_parameters_are_passed_on() {
    let folder = Folder::new("module");
    let table =
        "{ module = \"tcp_mine.so\", beta = 512.0, parameters = { fast = false, scale = 0.5 } }";
    let (scenario, asked) = folder.load(b"AB", table);
    let scenario = scenario.unwrap();
    let parameters = "[(\"beta\", Whole(512)), (\"fast\", Flag(false)), (\"scale\", Real(0.5))]";
    assert_eq!(asked, [format!("tcp_mine.so [65, 66] {parameters}")]);
    // The label contains neither the directory nor the prefix of the kernel's modules.
    assert_eq!(value(&scenario, "/flows/0/label"), "\"mine\"");
    // SHA-256 of "AB".
    let digest = "\"38164fbd17603d73f696b8b4d72664d735bb6a7c88577687fd2ae33fd6964153\"";
    assert_eq!(value(&scenario, "/flows/0/congestion/sha256"), digest);
    let (scenario, _) = folder.load(b"AB", "{ module = \"tcp_mine.so\" }");
    let scenario = scenario.unwrap();
    let defaults =
        ["beta", "fast"].map(|name| value(&scenario, &format!("/flows/0/congestion/{name}")));
    assert_eq!(defaults, ["717", "true"]);
}

/// Checks that a module is identified by its contents: the hash of a scenario covers them, but not the directory. A
/// SHA-256 in the scenario takes precedence.
#[test]
fn a_module_is_known_by_its_contents() {
    let (here, there) = (Folder::new("here"), Folder::new("there"));
    let plain = "{ module = \"tcp_mine.so\" }";
    let hash = |folder: &Folder, object: &[u8]| folder.load(object, plain).0.unwrap().hash();
    assert_eq!(hash(&here, b"AB"), hash(&there, b"AB"));
    assert_ne!(hash(&here, b"AB"), hash(&here, b"AC"));
    let fixed = "{ module = \"tcp_mine.so\", sha256 = \"38164fbd17603d73f696b8b4d72664d735bb6a7c88577687fd2ae33fd6964153\" }";
    assert!(here.load(b"AB", fixed).0.is_ok());
    let other = here.load(b"AC", fixed).0.unwrap_err();
    assert!(
        other.contains("is another file than that of this scenario"),
        "{other}"
    );
}

#[test]
fn what_a_module_cannot_have_is_refused() {
    for (table, expected) in [
        (
            "{ module = \"m.so\", kind = \"reno\" }",
            "congestion.kind: a module of Linux has no kind",
        ),
        (
            "{ module = \"m.so\", variant = \"ns2\" }",
            "congestion.variant: a module of Linux has no variant",
        ),
        (
            "{ module = 3 }",
            "congestion.module: expected text in quotes, found",
        ),
        (
            "{ module = \"m.so\", sha256 = 3 }",
            "congestion.sha256: expected text in quotes, found",
        ),
        (
            "{ module = \"m.so\", beta = \"much\" }",
            "congestion.beta: expected a number, true or false, found",
        ),
        (
            "{ module = \"m.so\", parameters = 3 }",
            "parameters: expected a table of the module's parameters",
        ),
        (
            "{ module = \"m.so\", beta = 1, parameters = { beta = 2 } }",
            "congestion.beta: it is given twice",
        ),
        (
            "{ module = \"nowhere.so\" }",
            "congestion.module: cannot read",
        ),
    ] {
        let found = refusal(&with_congestion(table));
        assert!(found.contains(expected), "{table}: {found}");
    }
    // A parameter in the table and one in `parameters` are two parameters.
    let apart = refusal(&with_congestion(
        "{ module = \"m.so\", beta = 1, parameters = { fast = true } }",
    ));
    assert!(
        apart.contains("cannot read") && !apart.contains("twice"),
        "{apart}"
    );
}

#[test]
fn a_controller_in_another_process_has_an_address_and_a_version_alone() {
    for (table, expected) in [
        (
            "{ external = \"unix:a\", gain = 2 }",
            "congestion.gain: a controller in another process has external and version alone",
        ),
        (
            "{ external = \"unix:a\", version = 2 }",
            "congestion.version: expected text in quotes",
        ),
        (
            "{ external = 2 }",
            "congestion.external: expected text in quotes",
        ),
    ] {
        let found = refusal(&with_congestion(table));
        assert!(found.contains(expected), "{table}: {found}");
    }
    let maker = Maker::default();
    let text = with_congestion("{ external = \"unix:a.sock\", version = \"2\" }");
    let scenario = parse_with(&text, "base.toml", None, &[], &maker).unwrap();
    assert_eq!(maker.0.into_inner(), ["unix:a.sock"]);
    assert_eq!(value(&scenario, "/flows/0/label"), "\"external\"");
}
