//! Lists of algorithms, queue disciplines and keys of scenarios, as Python dictionaries.

use longhaul_congestion::{DefaultValue, Parameter, Quantity};
use longhaul_congestion::{Entry, registry};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns every congestion control algorithm and slow start, with parameters and sources.
#[pyfunction]
pub(crate) fn algorithms(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let lists = PyDict::new(py);
    lists.set_item("algorithms", entries(py, registry::algorithms())?)?;
    lists.set_item("slow_starts", entries(py, registry::slow_starts())?)?;
    Ok(lists)
}

/// Returns every queue discipline, with its keys and source.
#[pyfunction]
pub(crate) fn queues(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for queue in longhaul_scenario::queues() {
        let row = PyDict::new(py);
        row.set_item("name", queue.kind)?;
        row.set_item("title", queue.title)?;
        row.set_item("description", queue.description)?;
        row.set_item("source", queue.source)?;
        let parameters = PyList::empty(py);
        for key in queue.keys {
            let parameter = PyDict::new(py);
            parameter.set_item("name", key.name)?;
            parameter.set_item("help", key.help)?;
            parameter.set_item("allowed", key.allowed)?;
            parameter.set_item("default", key.default)?;
            parameters.append(parameter)?;
        }
        row.set_item("parameters", parameters)?;
        list.append(row)?;
    }
    Ok(list)
}

/// Returns every key of a scenario.
#[pyfunction]
pub(crate) fn scenario_keys(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    keys(py, &longhaul_scenario::keys())
}

/// Returns every kind of traffic, with its keys.
#[pyfunction]
pub(crate) fn traffic(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for traffic in longhaul_scenario::traffic() {
        let row = PyDict::new(py);
        row.set_item("name", traffic.kind)?;
        row.set_item("keys", keys(py, &traffic.keys)?)?;
        list.append(row)?;
    }
    Ok(list)
}

/// Returns every profile.
#[pyfunction]
pub(crate) fn profiles(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for profile in longhaul_scenario::profiles() {
        let row = PyDict::new(py);
        row.set_item("name", profile.name)?;
        row.set_item("description", profile.description)?;
        list.append(row)?;
    }
    Ok(list)
}

/// Returns every column of the tables of a run, except those of MesoNet.
#[pyfunction]
pub(crate) fn columns(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for column in longhaul_output::columns() {
        let row = PyDict::new(py);
        row.set_item("table", column.table)?;
        row.set_item("name", column.name)?;
        row.set_item("unit", column.unit)?;
        row.set_item("description", column.description)?;
        row.set_item("only_with", column.only_with.unwrap_or(""))?;
        list.append(row)?;
    }
    Ok(list)
}

fn keys<'py>(py: Python<'py>, keys: &[longhaul_scenario::Key]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for key in keys {
        let row = PyDict::new(py);
        row.set_item("name", &key.path)?;
        row.set_item("description", key.help)?;
        row.set_item("allowed", &key.allowed)?;
        row.set_item("unit", key.unit)?;
        row.set_item("default", &key.default)?;
        row.set_item("source", key.source)?;
        list.append(row)?;
    }
    Ok(list)
}

fn entries<'py, T>(py: Python<'py>, all: &[Entry<T>]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for entry in all {
        let row = PyDict::new(py);
        row.set_item("name", entry.kind)?;
        row.set_item("title", entry.title)?;
        row.set_item("description", entry.description)?;
        row.set_item("law", entry.law.to_vec())?;
        row.set_item("source", entry.source)?;
        let variants: Vec<_> = entry
            .variants
            .iter()
            .map(|variant| variant.name())
            .collect();
        row.set_item("variants", variants)?;
        let signals: Vec<_> = entry.listens_to.iter().map(|one| one.name()).collect();
        row.set_item("listens_to", signals)?;
        row.set_item("queue", entry.needs_path.queue.map(|queue| queue.kind))?;
        let state: PyResult<Vec<_>> = entry.state.iter().map(|one| quantity(py, one)).collect();
        row.set_item("state", state?)?;
        let parameters: PyResult<Vec<_>> = entry
            .parameters
            .iter()
            .map(|one| parameter(py, one))
            .collect();
        row.set_item("parameters", parameters?)?;
        list.append(row)?;
    }
    Ok(list)
}

fn quantity<'py>(py: Python<'py>, one: &Quantity) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", one.name)?;
    row.set_item("unit", one.unit)?;
    row.set_item("title", one.title)?;
    Ok(row)
}

fn parameter<'py>(py: Python<'py>, one: &Parameter) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", one.name)?;
    row.set_item("unit", one.unit)?;
    let names = one.allowed.names;
    match one.default {
        DefaultValue::Fixed(value) if !names.is_empty() => {
            row.set_item("default", names[value as usize])?;
        }
        DefaultValue::Fixed(value) => row.set_item("default", value)?,
        DefaultValue::Derived { rule, .. } => row.set_item("default", rule)?,
        DefaultValue::SameAs(other) => row.set_item("default", format!("that of {other}"))?,
        // Points become lists, as users write them.
        DefaultValue::Points(points) => {
            let points: Vec<[f64; 2]> = points.iter().map(|&(w, value)| [w, value]).collect();
            row.set_item("default", points)?;
        }
    }
    let allowed = if names.is_empty() {
        one.allowed.to_string()
    } else {
        format!("one of {}", names.join(", "))
    };
    row.set_item("allowed", allowed)?;
    row.set_item("help", one.help)?;
    row.set_item("source", one.source)?;
    Ok(row)
}
