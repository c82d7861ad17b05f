//! Checks of a document against the declared keys: unknown keys, wrong types, wrong units, values
//! out of range.
//!
//! All errors are reported at once. Texts are converted to quantities, and whole numbers to
//! floating-point numbers for keys with such values, so that later steps get typed values only.

use longhaul_congestion::{DefaultValue, Parameter, Point, Variant, registry};
use longhaul_keys::{KIND, Key, Kind, check_name, check_text};
use longhaul_units::{Quantity, Span};

use crate::algorithm::{DEFAULT_CONGESTION, MAX_SSTHRESH, VARIANT, is_custom};
use crate::custom;
use crate::document::{Node, Origin, Table, Value, describe_value, join};
use crate::error::Diagnostic;
use crate::external;
use crate::module;
use crate::renamed;
use crate::unknown_names::{meant_key, refuse_unknown_keys, unknown_name};

/// Maximum time in a scenario. The sum of many such times still fits into 64 bits of picoseconds.
pub(crate) const LONGEST: Span = Span::from_secs(100_000);

/// Checks a whole document: a scenario or a profile.
pub(crate) fn check_root(
    root: &mut Table,
    fields: &'static [Key],
    origin: &Origin,
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    check_fields(fields, root, origin, "", &mut out);
    out
}

fn check(kind: &'static Kind, node: &mut Node, path: &str, out: &mut Vec<Diagnostic>) {
    let Node { value, origin, .. } = node;
    let mut refuse = |message: String| out.push(Diagnostic::new(path, origin, message));
    match (kind, &mut *value) {
        (Kind::Flag, Value::Flag(_)) => {}
        (Kind::Text, Value::Text(text)) => {
            if let Err(wrong) = check_text(text) {
                refuse(wrong);
            }
        }
        (Kind::Name, Value::Text(text)) => {
            if let Err(wrong) = check_name(text) {
                refuse(wrong);
            }
        }
        (Kind::Whole { min, max }, Value::Whole(whole)) => {
            if !(*min..=*max).contains(whole) {
                refuse(format!(
                    "{whole} is out of range; expected a whole number from {min} to {max}"
                ));
            }
        }
        (Kind::Number(range), Value::Whole(_) | Value::Number(_)) => {
            let number = as_number(value);
            if !range.contains(number) {
                refuse(format!(
                    "{number} is out of range; expected a number {range}"
                ));
            }
        }
        (Kind::Positive(dimensions) | Kind::Quantity(dimensions), Value::Text(text)) => {
            match Quantity::parse(text, dimensions) {
                Ok(quantity) if matches!(kind, Kind::Positive(_)) && is_zero(quantity) => {
                    refuse(format!("must be greater than 0, found {text:?}"));
                }
                Ok(Quantity::Span(span)) if span > LONGEST => {
                    refuse(format!("{text:?} is too long; expected at most {LONGEST}"));
                }
                Ok(quantity) => *value = Value::Quantity(quantity),
                Err(error) => refuse(error.to_string()),
            }
        }
        (Kind::Positive(dims) | Kind::Quantity(dims), Value::Whole(_) | Value::Number(_)) => {
            let text = as_number(value).to_string();
            if let Err(error) = Quantity::parse(&text, dims) {
                refuse(error.to_string());
            }
        }
        (Kind::Word(words), Value::Text(text)) => {
            if !words.contains(&text.as_str()) {
                refuse(unknown_name("value", text, words.iter().copied()));
            }
        }
        (Kind::List(item), Value::List(items)) => {
            for (index, node) in items.iter_mut().enumerate() {
                check(item, node, &join(path, &index.to_string()), out);
            }
        }
        (Kind::Table(fields), Value::Table(table)) => {
            check_fields(fields, table, origin, path, out);
        }
        (Kind::Tagged(kinds), Value::Table(table)) => {
            check_tagged(kinds, table, origin, path, out);
        }
        (Kind::Congestion, Value::Table(table)) => check_congestion(table, path, out),
        (Kind::SlowStart, Value::Table(table)) => check_slow_start(table, path, out),
        (Kind::OneOf(kinds), _) => check_one_of(kinds, kind, node, path, out),
        // A single table was written in place of a list, whose entries have too many keys to name
        // them all.
        (Kind::List(_), Value::Table(_)) if !path.contains('.') => refuse(format!(
            "expected a list, found a table; each entry of a list begins with [[{path}]]"
        )),
        (_, found) => {
            let found = describe_value(found);
            refuse(format!("expected {}, found {found}", describe(kind)));
        }
    }
}

/// Replaces `value` by a floating-point number, which is also returned. A value that is not a number
/// becomes NaN.
fn as_number(value: &mut Value) -> f64 {
    let number = match value {
        Value::Whole(whole) => *whole as f64,
        Value::Number(number) => *number,
        _ => f64::NAN,
    };
    *value = Value::Number(number);
    number
}

fn is_zero(quantity: Quantity) -> bool {
    match quantity {
        Quantity::Span(span) => span.as_ps() == 0,
        Quantity::Rate(rate) => rate.as_bps() == 0,
        Quantity::Bytes(bytes) => bytes.0 == 0,
        Quantity::Packets(number) | Quantity::Bdp(number) => number == 0.0,
    }
}

/// Checks a value against several allowed kinds. If none accepts it, and exactly one of them has the
/// value's type, the errors of this kind are reported; otherwise one error names all kinds.
fn check_one_of(
    kinds: &'static [Kind],
    whole: &'static Kind,
    node: &mut Node,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let mut best: Option<Vec<Diagnostic>> = None;
    for kind in kinds.iter().filter(|kind| suits(kind, &node.value)) {
        let (mut attempt, mut errors) = (node.clone(), Vec::new());
        check(kind, &mut attempt, path, &mut errors);
        if errors.is_empty() {
            *node = attempt;
            return;
        }
        best = Some(if best.is_some() { Vec::new() } else { errors });
    }
    match best {
        Some(errors) if !errors.is_empty() => out.extend(errors),
        _ => {
            let found = describe_value(&node.value);
            let message = format!("expected {}, found {found}", describe(whole));
            out.push(Diagnostic::new(path, &node.origin, message));
        }
    }
}

/// Returns true if a value has the type that `kind` expects, even if the value is out of range. A
/// text that begins with a digit, a sign or a point counts as a quantity, any other text as a word.
fn suits(kind: &Kind, value: &Value) -> bool {
    let numeric = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match (kind, value) {
        (Kind::Positive(_) | Kind::Quantity(_), Value::Text(text)) => numeric(text),
        (Kind::Positive(_) | Kind::Quantity(_), value) => {
            matches!(value, Value::Whole(_) | Value::Number(_))
        }
        (Kind::Word(_), Value::Text(text)) => !numeric(text),
        (Kind::Text | Kind::Name, value) => matches!(value, Value::Text(_)),
        (Kind::Flag, value) => matches!(value, Value::Flag(_)),
        (Kind::Whole { .. }, value) => matches!(value, Value::Whole(_)),
        (Kind::Number(_), value) => matches!(value, Value::Whole(_) | Value::Number(_)),
        (Kind::List(_), value) => matches!(value, Value::List(_)),
        (Kind::Table(_) | Kind::Tagged(_), value) => matches!(value, Value::Table(_)),
        _ => false,
    }
}

/// Checks the keys and values of the table at `path` against `fields`.
pub(crate) fn check_fields(
    fields: &'static [Key],
    table: &mut Table,
    origin: &Origin,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    check_fields_of(None, fields, table, origin, path, out);
}

/// Checks the keys and values of the table at `path` against `fields`, the keys of its `kind`.
fn check_fields_of(
    kind: Option<&Node>,
    fields: &'static [Key],
    table: &mut Table,
    origin: &Origin,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let names = || fields.iter().map(|field| field.name);
    let known = |key: &str| names().any(|name| name == key);
    refuse_unknown_keys(table, kind, path, known, out, || names().collect());
    for field in fields {
        // A mistyped key is not reported as missing in addition.
        let mistyped = |table: &Table| {
            let mut unknown = table.entries.keys().filter(|key| !known(key));
            unknown.any(|key| {
                let known: Vec<_> = names().collect();
                meant_key(key, &known) == Some(field.name)
            })
        };
        if let Some(node) = table.entries.get_mut(field.name) {
            check(&field.kind, node, &join(path, field.name), out);
        } else if field.is_required() && !mistyped(table) {
            let key = field.name;
            let message = format!("the key `{key}` is missing: {}", describe(&field.kind));
            out.push(Diagnostic::new(path, origin, message));
        }
    }
}

/// Returns the noun that messages use for a value of the key `kind` of the table at `path`, such as
/// `queue discipline`.
fn choice_of(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        // Local queues accept only some disciplines, which no list contains.
        Some("queue") if path.starts_with("proxies") => "discipline of a local queue",
        Some("queue") => "queue discipline",
        Some("traffic") => "kind of traffic",
        _ => "kind",
    }
}

fn check_tagged(
    kinds: &'static [(&'static str, &'static [Key])],
    table: &mut Table,
    origin: &Origin,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let names = || kinds.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let Some(node) = table.remove(KIND) else {
        let message = format!("the key {KIND} is missing; allowed: {}", names().join(", "));
        out.push(Diagnostic::new(path, origin, message));
        return;
    };
    let found = kinds
        .iter()
        .find(|(name, _)| node.value == Value::Text((*name).to_string()));
    match (found, &node.value) {
        (Some((_, fields)), _) => {
            check_fields_of(Some(&node), fields, table, origin, path, out);
        }
        (None, Value::Text(name)) => {
            let message = unknown_name(choice_of(path), name, names());
            out.push(Diagnostic::new(
                &join(path, KIND.name()),
                &node.origin,
                message,
            ));
        }
        (None, other) => {
            let message = format!(
                "expected one of {}, found {}",
                names().join(", "),
                describe_value(other)
            );
            out.push(Diagnostic::new(
                &join(path, KIND.name()),
                &node.origin,
                message,
            ));
        }
    }
    table.insert(KIND, node);
}

fn check_congestion(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    if is_custom(table) {
        return custom::check(table, path, out);
    }
    if module::is_module(table) {
        return module::check(table, path, out);
    }
    if external::is_external(table) {
        return external::check(table, path, out);
    }
    let kind = match table.get(KIND).map(|node| (&node.value, &node.origin)) {
        None => DEFAULT_CONGESTION.to_string(),
        Some((Value::Text(kind), _)) => kind.clone(),
        Some((other, origin)) => {
            let message = format!(
                "expected the name of an algorithm, found {}",
                describe_value(other)
            );
            return out.push(Diagnostic::new(&join(path, KIND.name()), origin, message));
        }
    };
    let Ok(entry) = registry::find_algorithm(&kind) else {
        let known = registry::algorithms().iter().map(|entry| entry.kind);
        let message = unknown_name("congestion control", &kind, known);
        return out.push(Diagnostic::at(table, KIND, path, message));
    };
    if let Some(Node { value, origin, .. }) = table.get(VARIANT) {
        let names = entry.variants.iter().map(|variant| variant.name());
        let named = Variant::ALL.iter().any(|variant| {
            entry.variants.contains(variant) && *value == Value::Text(variant.name().to_string())
        });
        if !named {
            let found = if let Value::Text(text) = value {
                text
            } else {
                "?"
            };
            let message = renamed::variant(found, entry.variants)
                .unwrap_or_else(|| unknown_name("variant", found, names));
            out.push(Diagnostic::new(
                &join(path, VARIANT.name()),
                origin,
                message,
            ));
        }
    }
    check_parameters(
        &[KIND.name(), VARIANT.name()],
        entry.parameters,
        table,
        path,
        out,
    );
}

fn check_slow_start(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    let names = || registry::slow_starts().iter().map(|entry| entry.kind);
    if let Some(Node { value, origin, .. }) = table.get(KIND)
        && !names().any(|name| *value == Value::Text(name.to_string()))
    {
        let found = if let Value::Text(text) = value {
            text
        } else {
            "?"
        };
        let message = unknown_name("slow start", found, names());
        return out.push(Diagnostic::new(&join(path, KIND.name()), origin, message));
    }
    // Zero switches the limit off, as in ns-2.
    let off = matches!(
        table.get(MAX_SSTHRESH).map(|node| &node.value),
        Some(Value::Whole(0) | Value::Number(0.0))
    );
    let limits = |(key, node): (&String, &Node)| {
        let limited = key == KIND.name() && node.value == Value::text("limited");
        limited || key == MAX_SSTHRESH.name()
    };
    if off && table.entries.iter().all(limits) {
        let origin = table.node(MAX_SSTHRESH).origin.clone();
        *table = Table::new();
        return table.insert(KIND, Node::text("standard", origin));
    }
    // Parameters without a kind belong to limited slow start.
    let kind = match table.get(KIND).map(|node| &node.value) {
        Some(Value::Text(kind)) => kind.as_str(),
        _ => "limited",
    };
    let entry = registry::slow_starts()
        .iter()
        .find(|entry| entry.kind == kind);
    let parameters = entry.map_or(&[][..], |entry| entry.parameters);
    check_parameters(&[KIND.name()], parameters, table, path, out);
}

/// Checks the table of an algorithm: its keys, and the values of `parameters`, as the registry declares them.
fn check_parameters(
    own: &[&'static str],
    parameters: &'static [Parameter],
    table: &mut Table,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let names = || {
        own.iter()
            .copied()
            .chain(parameters.iter().map(|parameter| parameter.name))
    };
    refuse_unknown_keys(
        table,
        table.get(KIND),
        path,
        |key| names().any(|name| name == key),
        out,
        || names().collect(),
    );
    for parameter in parameters {
        let Some(node) = table.entries.get_mut(parameter.name) else {
            continue;
        };
        if let (DefaultValue::Points(_), Value::List(_)) = (parameter.default, &node.value) {
            check_points(parameter, node, &join(path, parameter.name), out);
            continue;
        }
        let names = parameter.allowed.names;
        if !names.is_empty() {
            check_choice(names, node, &join(path, parameter.name), out);
            continue;
        }
        let found = describe_value(&node.value);
        let number = as_number(&mut node.value);
        if !parameter.allowed.contains(number) {
            let (range, unit) = (parameter.allowed, parameter.unit_in_words());
            let bare = if unit.is_empty() {
                ""
            } else {
                ", without a unit"
            };
            let or_points = match parameter.default {
                DefaultValue::Points(_) => ", or a list of points [window, value]",
                _ => "",
            };
            let message =
                format!("expected a number {range}{unit}{bare}{or_points}, found {found}");
            out.push(Diagnostic::new(
                &join(path, parameter.name),
                &node.origin,
                message,
            ));
        }
    }
}

/// Checks that the value of a parameter is one of `names`.
fn check_choice(
    names: &'static [&'static str],
    node: &Node,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let message = match &node.value {
        Value::Text(text) if names.contains(&text.as_str()) => return,
        Value::Text(text) => unknown_name("value", text, names.iter().copied()),
        found => format!(
            "expected one of {}, found {}",
            names.join(", "),
            describe_value(found)
        ),
    };
    out.push(Diagnostic::new(path, &node.origin, message));
}

/// Checks a parameter that is given as a function of the window.
fn check_points(
    parameter: &'static Parameter,
    node: &mut Node,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let Value::List(items) = &mut node.value else {
        return;
    };
    for (index, item) in items.iter_mut().enumerate() {
        if let Value::List(pair) = &mut item.value {
            for number in pair {
                as_number(&mut number.value);
            }
        }
        if pair(item).is_none() {
            let message = "expected a point [window, value], such as [100, 2.5]";
            let path = join(path, &index.to_string());
            return out.push(Diagnostic::new(&path, &item.origin, message));
        }
    }
    let given = points(node).expect("every item is a point");
    if let Err((index, reason)) = parameter.check_points(&given) {
        let Value::List(items) = &node.value else {
            return;
        };
        let origin = items.get(index).map_or(&node.origin, |item| &item.origin);
        out.push(Diagnostic::new(
            &join(path, &index.to_string()),
            origin,
            reason,
        ));
    }
}

/// Returns the points (window, value) of a tabulated function; `None` if `node` has no such list.
pub(crate) fn points(node: &Node) -> Option<Vec<Point>> {
    let Value::List(items) = &node.value else {
        return None;
    };
    items.iter().map(pair).collect()
}

fn pair(node: &Node) -> Option<Point> {
    let Value::List(pair) = &node.value else {
        return None;
    };
    let [window, value] = pair.as_slice() else {
        return None;
    };
    match (&window.value, &value.value) {
        (&Value::Number(window), &Value::Number(value)) => {
            (!window.is_nan() && !value.is_nan()).then_some((window, value))
        }
        _ => None,
    }
}

/// Returns the values that a key accepts, as text for messages.
pub(crate) fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "true or false".to_string(),
        Kind::Text | Kind::Name => "a text in quotes".to_string(),
        Kind::Whole { min, max } => format!("a whole number from {min} to {max}"),
        Kind::Number(range) => format!("a number {range}"),
        Kind::Positive(dimensions) | Kind::Quantity(dimensions) => {
            let described = dimensions.iter().map(|dimension| dimension.described());
            described.collect::<Vec<_>>().join(", or ")
        }
        Kind::Word(words) => words
            .iter()
            .map(|word| format!("{word:?}"))
            .collect::<Vec<_>>()
            .join(" or "),
        Kind::List(item) => format!("a list, each entry {}", describe(item)),
        Kind::Table(fields) => {
            let keys: Vec<&str> = fields.iter().map(|field| field.name).collect();
            format!("a table with {}", keys.join(", "))
        }
        Kind::Tagged(kinds) => {
            let kinds: Vec<String> = kinds.iter().map(|(kind, _)| format!("{kind:?}")).collect();
            format!("a table with kind = {}", kinds.join(" or "))
        }
        Kind::Congestion => "a table with kind = \"NAME\" or python = \"FILE:CLASS\"".to_string(),
        Kind::SlowStart => "a table with kind = \"NAME\"".to_string(),
        Kind::OneOf(kinds) => kinds.iter().map(describe).collect::<Vec<_>>().join(", or "),
    }
}
