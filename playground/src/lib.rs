//! The playground's engine, compiled to WebAssembly. `docs/static/playground.js` calls it.
//!
//! The page asks [`room`] for memory, writes the text of a scenario there, and calls [`simulate`]. The answer, JSON in
//! UTF-8, replaces the text; [`length`] returns its length.

mod answer;
mod series;

use std::sync::Mutex;

use answer::{Answer, Refusal};

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Returns the address at which to write a scenario of this many bytes.
#[expect(unsafe_code, reason = "the page finds functions by their names")]
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *const u8 {
    replace(vec![0; bytes])
}

/// Simulates the scenario that was written; returns the address of the answer.
#[expect(unsafe_code, reason = "the page finds functions by their names")]
#[unsafe(no_mangle)]
pub extern "C" fn simulate() -> *const u8 {
    let scenario = TEXT.lock().expect("there is one thread").clone();
    replace(answer_to(&String::from_utf8_lossy(&scenario)).into_bytes())
}

/// Returns the length of the answer in bytes.
#[expect(unsafe_code, reason = "the page finds functions by their names")]
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    TEXT.lock().expect("there is one thread").len()
}

fn replace(text: Vec<u8>) -> *const u8 {
    let mut kept = TEXT.lock().expect("there is one thread");
    *kept = text;
    kept.as_ptr()
}

/// Returns the answer to a scenario as JSON: totals and series, or the reason for refusing the scenario.
pub fn answer_to(scenario: &str) -> String {
    let answer = match Answer::to(scenario) {
        Ok(answer) => serde_json::to_string(&answer),
        Err(error) => serde_json::to_string(&Refusal { error }),
    };
    answer.expect("texts and numbers can be written")
}
