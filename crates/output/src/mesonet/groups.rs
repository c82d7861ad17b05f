//! goodput.parquet: goodput statistics of completed flows (NIST SP 500-282, chapter 8). Each row is
//! for a batch of flows of one group.

use longhaul_mesonet::config::{FileType, PathClass};
use longhaul_mesonet::records::{FlowGroup, GoodputBatch};

use crate::table::{Cell, Column, Kind};

pub(crate) const FILE: &str = "goodput.parquet";

/// Returns the columns that identify the flow group of a row.
pub(crate) fn group_columns<R: 'static>(group: fn(&R) -> &FlowGroup) -> [Column<R>; 5] {
    use Kind::{Count, Text};
    let file = |file| match file {
        FileType::Web => "web",
        FileType::Document => "document",
        FileType::ServicePack => "service pack",
        FileType::Movie => "movie",
    };
    let path = |path| match path {
        PathClass::VeryFast => "very fast",
        PathClass::Fast => "fast",
        PathClass::Typical => "typical",
    };
    let fast = |fast| if fast { "fast" } else { "normal" };
    let role = |alternate| if alternate { "alternate" } else { "standard" };
    [
        Column::new(
            "group",
            Count,
            "",
            "number of the flow group, from 1",
            move |row: &R| Cell::Count(group(row).number() as u64),
        ),
        Column::new("file", Text, "", "type of the files", move |row: &R| {
            Cell::Text(file(group(row).file))
        }),
        Column::new("path", Text, "", "class of the paths", move |row: &R| {
            Cell::Text(path(group(row).path))
        }),
        Column::new(
            "interface",
            Text,
            "",
            "speed of the hosts' interfaces: fast if both are fast",
            move |row: &R| Cell::Text(fast(group(row).fast_interface)),
        ),
        Column::new(
            "role",
            Text,
            "",
            "algorithm of the sources: standard TCP or the alternate",
            move |row: &R| Cell::Text(role(group(row).alternate)),
        ),
    ]
}

/// Name, description and value of a statistic of a batch.
type Statistic = (&'static str, &'static str, fn(&GoodputBatch) -> f64);

pub(crate) fn columns() -> Vec<Column<GoodputBatch>> {
    let mut columns = vec![Column::new(
        "interval",
        Kind::Count,
        "",
        "number of the interval at whose end the batch is reported",
        |batch: &GoodputBatch| Cell::Count(batch.interval),
    )];
    columns.extend(group_columns(|batch: &GoodputBatch| &batch.group));
    columns.push(Column::new(
        "flows",
        Kind::Count,
        "",
        "flows",
        |batch: &GoodputBatch| Cell::Count(batch.count),
    ));
    let statistics: [Statistic; 4] = [
        ("mean", "mean goodput", |batch| batch.mean),
        ("deviation", "standard deviation of the sample", |batch| {
            batch.deviation
        }),
        ("min", "smallest goodput", |batch| batch.min),
        ("max", "largest goodput", |batch| batch.max),
    ];
    columns.extend(statistics.map(|(name, description, value)| {
        let name = format!("{name}_pps");
        Column::new(
            name,
            Kind::Real,
            "pps",
            description,
            move |batch: &GoodputBatch| Cell::Real(value(batch)),
        )
    }));
    columns.extend((0..9).map(|decile| {
        let percent = 10 * (decile + 1);
        let (name, description) = (format!("p{percent}_pps"), format!("{percent}th percentile"));
        Column::new(
            name,
            Kind::Real,
            "pps",
            description,
            move |batch: &GoodputBatch| Cell::Real(batch.deciles[decile]),
        )
    }));
    columns
}
