//! The JSON Schema of scenario files. Editors complete and check files with it.

use longhaul_congestion::registry;
use serde_json::Value as Json;

/// Returns the schema of the congestion control algorithm `kind`.
fn algorithm<'a>(schema: &'a Json, kind: &str) -> Option<&'a Json> {
    match schema {
        Json::Object(entries) => {
            let own = schema.pointer("/properties/kind/const");
            if own.is_some_and(|found| found == kind)
                && schema.pointer("/properties/variant").is_some()
            {
                return Some(schema);
            }
            entries.values().find_map(|part| algorithm(part, kind))
        }
        Json::Array(parts) => parts.iter().find_map(|part| algorithm(part, kind)),
        _ => None,
    }
}

/// Checks that the schema describes every algorithm with its variants and its parameters, each with meaning, unit and
/// bounds.
#[test]
fn algorithms_are_described_with_their_parameters() {
    let schema = longhaul_scenario::schema();
    for entry in registry::algorithms() {
        let found = algorithm(&schema, entry.kind).expect("every kind is there");
        assert_eq!(found["description"], entry.description);
        assert_eq!(found["required"], serde_json::json!(["kind"]));
        assert_eq!(found["additionalProperties"], false);
        let variants = found["properties"]["variant"]["enum"].as_array();
        assert_eq!(variants.map(Vec::len), Some(entry.variants.len()));
        for parameter in entry.parameters {
            let found = &found["properties"][parameter.name];
            let text = found["description"].as_str().expect("a text");
            assert!(text.starts_with(parameter.help), "{text}");
            assert!(text.ends_with(&format!("({})", parameter.unit)), "{text}");
            let names = found["enum"].as_array().map_or(0, Vec::len);
            assert_eq!(names, parameter.allowed.names.len());
        }
    }
}
