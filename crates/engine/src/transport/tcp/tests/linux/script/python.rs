//! Python code in a packetdrill script: assertions about the sender's state, with sums of numbers and variables.

use std::collections::HashMap;

use crate::transport::tcp::tests::linux::table::{Fact, Relation};

/// Comparison operators, longer ones first: `<=` precedes its prefix `<`.
const RELATIONS: [(&str, Relation); 6] = [
    ("==", Relation::Equal),
    ("!=", Relation::Other),
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    (">", Relation::Above),
    ("<", Relation::Below),
];

/// Values of the variables that a script has defined.
#[derive(Debug)]
pub(super) struct Variables(HashMap<String, f64>);

impl Default for Variables {
    /// Returns the variables that packetdrill predefines: the names of congestion avoidance states.
    fn default() -> Self {
        let names = ["Open", "Disorder", "CWR", "Recovery", "Loss"];
        let states = (0..).zip(names);
        let named = states.map(|(value, name)| (format!("TCP_CA_{name}"), f64::from(value)));
        Self(named.collect())
    }
}

impl Variables {
    /// Returns the assertions in a piece of code.
    pub(super) fn facts(&mut self, code: &str) -> Result<Vec<Fact>, String> {
        let mut facts = Vec::new();
        let code = code.replace("\\\n", " ");
        for line in code
            .lines()
            .map(|line| line.split('#').next().unwrap_or(""))
        {
            for statement in line.split(';').map(str::trim) {
                self.execute(statement, &mut facts)?;
            }
        }
        Ok(facts)
    }

    fn execute(&mut self, statement: &str, facts: &mut Vec<Fact>) -> Result<(), String> {
        if statement.is_empty() || statement.starts_with("print") {
            return Ok(());
        }
        if let Some(asserted) = statement.strip_prefix("assert ") {
            let condition = asserted.split(',').next().unwrap_or("");
            for part in condition.split(" and ") {
                facts.extend(self.comparisons(part)?);
            }
            return Ok(());
        }
        let (name, value) = statement.split_once('=').ok_or("a statement of Python")?;
        let (name, is_added) = match name.trim().strip_suffix('+') {
            Some(name) => (name.trim(), true),
            None => (name.trim(), false),
        };
        let value = self.value(value)?;
        let before = if is_added { self.value(name)? } else { 0.0 };
        self.0.insert(name.to_string(), before + value);
        Ok(())
    }

    /// Reads `A == B`, or `A <= B <= C`.
    fn comparisons(&self, text: &str) -> Result<Vec<Fact>, String> {
        let (left, relation, rest) = compared(text).ok_or("a condition of Python")?;
        match compared(rest) {
            None => Ok(vec![self.fact(left, relation, rest)?]),
            Some((middle, second, right)) => Ok(vec![
                self.fact(left, relation, middle)?,
                self.fact(middle, second, right)?,
            ]),
        }
    }

    fn fact(&self, left: &str, relation: Relation, right: &str) -> Result<Fact, String> {
        let of_sender = |side: &str| side.trim().strip_prefix("tcpi_").map(str::to_string);
        match (of_sender(left), of_sender(right)) {
            (Some(name), None) => Ok(Fact::of_kernel(&name, relation, self.value(right)?)),
            (None, Some(name)) => {
                let relation = relation.turned();
                Ok(Fact::of_kernel(&name, relation, self.value(left)?))
            }
            _ => Err("a condition of Python".to_string()),
        }
    }

    /// Returns the value of a sum of numbers and variables.
    fn value(&self, text: &str) -> Result<f64, String> {
        let term = |term: &str| {
            let term = term.trim();
            let hexadecimal = term
                .strip_prefix("0x")
                .map(|digits| u64::from_str_radix(digits, 16));
            let number = match hexadecimal {
                Some(number) => number.ok().map(|number| number as f64),
                None => term.parse().ok().or_else(|| self.0.get(term).copied()),
            };
            number.ok_or_else(|| format!("a value of Python, {term:?}"))
        };
        text.split('+').map(term).sum()
    }
}

/// Returns the two sides of the first comparison, and its relation.
fn compared(text: &str) -> Option<(&str, Relation, &str)> {
    let found = RELATIONS
        .iter()
        .filter_map(|&(operator, relation)| Some((text.find(operator)?, operator, relation)));
    // If both `<=` and `<` match at the same place, the first one in the list is used, which is the longer one.
    let (at, operator, relation) = found.min_by_key(|&(at, ..)| at)?;
    Some((&text[..at], relation, &text[at + operator.len()..]))
}
