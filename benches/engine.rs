//! Benchmarks of `make bench`: data packets per second, for parts of the engine and for whole
//! dumbbells.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use longhaul_benches::WORK;
use longhaul_engine::measure::NoRecorder;
use longhaul_engine::simulation;

fn simulations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(10);
    for work in WORK {
        let config = work.config();
        let run = || simulation::run(&config, &mut NoRecorder).expect("valid scenarios run");
        // At least one, for what only sets up.
        group.throughput(Throughput::Elements(run().data_packets.max(1)));
        group.bench_function(work.name, |bencher| bencher.iter(run));
    }
}

criterion_group!(benches, simulations);
criterion_main!(benches);
