//! The JSON Schema of scenario files, for editors that complete and check TOML.

use std::ops::Bound;

use longhaul_congestion::{DefaultValue, Parameter, registry};
use longhaul_keys::{DefaultText, Key, Kind, NAME_MAX, Profile, Range};
use longhaul_units::Dimension;
use serde_json::{Map, Value as Json, json};

use crate::kinds;
use crate::model::SCENARIO;
use crate::render;

/// Returns the schema of a whole scenario (JSON Schema 2020-12), with sorted keys.
pub fn schema() -> Json {
    let mut schema = table(SCENARIO);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Longhaul scenario");
    // A file that extends another one may leave out keys that the other file contains.
    let required = schema["required"].take();
    let mut enough = vec![json!({ "required": required })];
    for kind in &kinds::OTHERS {
        enough.push(json!({ "required": [kind.table] }));
        let properties = schema["properties"][kind.table]["properties"]
            .as_object_mut()
            .expect("a table's properties are an object");
        for name in (kind.other_names)() {
            let description = "Original name of another key, with its original value.";
            properties.insert(name.to_string(), json!({ "description": description }));
        }
    }
    enough.push(json!({ "required": ["extends"] }));
    schema["anyOf"] = json!(enough);
    schema
        .as_object_mut()
        .expect("a table's schema is an object")
        .remove("required");
    // This is needed in builds in which another crate makes `serde_json` keep the order of
    // insertion.
    schema.sort_all_objects();
    schema
}

fn table(keys: &[Key]) -> Json {
    let property = |key: &Key| {
        let mut schema = of(&key.kind);
        schema["description"] = json!(described(key));
        if let Some(default) = key.default_node(Profile::ALL[0])
            && default.table().is_none()
        {
            schema["default"] = render::json_value(&default.value);
        }
        (key.name.to_string(), schema)
    };
    let properties: Map<String, Json> = keys.iter().map(property).collect();
    let required: Vec<&str> = keys
        .iter()
        .filter(|key| key.is_required())
        .map(|key| key.name)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Returns the meaning of a key, its default and its source as one text.
fn described(key: &Key) -> String {
    let default = match key.default {
        DefaultText::Required | DefaultText::None => String::new(),
        default => format!(" Default: {default}."),
    };
    let source = match key.source {
        "" => String::new(),
        source => format!(" Source: {source}."),
    };
    format!("{}{default}{source}", key.help)
}

fn of(kind: &Kind) -> Json {
    match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "maxLength": NAME_MAX }),
        Kind::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number(range) => number(*range),
        Kind::Positive(dimensions) | Kind::Quantity(dimensions) => quantity(dimensions),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::List(item) => json!({ "type": "array", "items": of(item) }),
        Kind::Table(fields) => table(fields),
        Kind::Tagged(kinds) => {
            let kinds = kinds
                .iter()
                .map(|(kind, fields)| tagged(kind, table(fields)));
            json!({ "anyOf": kinds.collect::<Vec<_>>() })
        }
        Kind::Congestion => {
            let kinds = registry::algorithms().iter().map(|entry| {
                let mut schema = tagged(entry.kind, parameters(entry.parameters));
                let variants: Vec<&str> = entry.variants.iter().map(|v| v.name()).collect();
                schema["properties"]["variant"] = json!({ "enum": variants });
                schema["description"] = json!(entry.description);
                schema
            });
            json!({ "anyOf": kinds.chain([custom(), external(), module()]).collect::<Vec<_>>() })
        }
        Kind::SlowStart => {
            let kinds = registry::slow_starts().iter().map(|entry| {
                let mut schema = tagged(entry.kind, parameters(entry.parameters));
                schema["description"] = json!(entry.description);
                schema
            });
            // Without a kind, the table selects the profile's limited slow start or, with a limit of 0,
            // standard slow start.
            let limit = json!({
                "type": "object",
                "properties": { "max_ssthresh": { "type": "number", "minimum": 0 } },
                "additionalProperties": false,
            });
            json!({ "anyOf": kinds.chain([limit]).collect::<Vec<_>>() })
        }
        Kind::OneOf(kinds) => json!({ "anyOf": kinds.iter().map(of).collect::<Vec<_>>() }),
    }
}

/// Returns the schema `table` with a required key `kind` that must have the value of the parameter `kind`. No other key
/// remains required.
fn tagged(kind: &str, mut table: Json) -> Json {
    table["properties"]["kind"] = json!({ "const": kind });
    table["required"] = json!(["kind"]);
    table
}

fn parameters(parameters: &[Parameter]) -> Json {
    let property = |parameter: &Parameter| {
        let names = parameter.allowed.names;
        let mut schema = if names.is_empty() {
            number(parameter.allowed)
        } else {
            json!({ "enum": names })
        };
        if let DefaultValue::Points(_) = parameter.default {
            schema = json!({ "anyOf": [schema, points(parameter.allowed)] });
        }
        schema["description"] = json!(format!("{} ({})", parameter.help, parameter.unit));
        (parameter.name.to_string(), schema)
    };
    let properties: Map<String, Json> = parameters.iter().map(property).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Returns the schema of a list of points `[window, value]`, with values in the range `values`.
fn points(values: Range) -> Json {
    let window = json!({ "type": "number", "exclusiveMinimum": 0 });
    let pair = json!({
        "type": "array", "prefixItems": [window, number(values)], "minItems": 2, "maxItems": 2,
    });
    json!({ "type": "array", "items": pair, "minItems": 1 })
}

/// Returns the schema of an algorithm in Python. Further keys are allowed, since only its class
/// knows them.
fn custom() -> Json {
    json!({
        "type": "object",
        "properties": {
            "python": {
                "type": "string",
                "description": "File and class of an algorithm in Python, as in `my_cc.py:MyCC`; \
                    relative to this file. Its constructor gets the other keys.",
            },
            "source": {
                "type": "string",
                "description": "Text of the algorithm, in resolved scenarios; read from the file \
                    without it.",
            },
        },
        "required": ["python"],
        "additionalProperties": true,
    })
}

/// Returns the schema of congestion control in another process.
fn external() -> Json {
    json!({
        "type": "object",
        "properties": {
            "external": {
                "type": "string",
                "pattern": "^(unix:.+|tcp:.+:[0-9]+)$",
                "description": "Address of a controller in another process: `unix:PATH`, relative to the current \
                    directory, or `tcp:HOST:PORT`.",
            },
            "version": {
                "type": "string",
                "description": "Version of that controller: runs of different versions are different runs.",
            },
        },
        "required": ["external"],
        "additionalProperties": false,
    })
}

/// Returns the JSON Schema of the table of a congestion control module of Linux. Further keys are allowed: they are the
/// module's parameters, which only its object file declares.
fn module() -> Json {
    json!({
        "type": "object",
        "properties": {
            "module": {
                "type": "string",
                "description": "Object of a congestion control module of Linux, built by `longhaul module build`; \
                    relative to this file. Its parameters are the other keys.",
            },
            "sha256": {
                "type": "string",
                "pattern": "^[0-9a-f]{64}$",
                "description": "SHA-256 of the object, in resolved scenarios.",
            },
            "parameters": {
                "type": "object",
                "description": "Parameters of the module that have the name of one of these keys.",
                "additionalProperties": { "type": ["number", "boolean"] },
            },
        },
        "required": ["module"],
        "additionalProperties": { "type": ["number", "boolean"] },
    })
}

fn number(range: Range) -> Json {
    let mut schema = json!({ "type": "number" });
    let mut bound = |bound, included: &str, excluded: &str| match bound {
        Bound::Included(value) => schema[included] = json!(value),
        Bound::Excluded(value) => schema[excluded] = json!(value),
        Bound::Unbounded => {}
    };
    bound(range.min, "minimum", "exclusiveMinimum");
    bound(range.max, "maximum", "exclusiveMaximum");
    schema
}

fn quantity(dimensions: &[Dimension]) -> Json {
    let units: Vec<&str> = dimensions
        .iter()
        .flat_map(|dimension| dimension.unit_names())
        .collect();
    let examples: Vec<&str> = dimensions
        .iter()
        .map(|dimension| dimension.example())
        .collect();
    let pattern = format!("^[0-9.]+([eE][+-]?[0-9]+)? *({})$", units.join("|"));
    json!({ "type": "string", "pattern": pattern, "examples": examples })
}
